import { accessSync, constants, existsSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { PungiError } from '../base/errors.js';
import { fileProblem } from '../base/files.js';
import type { Config } from '../config/schema.js';
import { parseRequirements } from '../environments/requirements/requirement.js';
import { findProgram } from '../runtime/server-process.js';

/** Checks settings that would otherwise fail the first run that needs them. Throws the first problem. */
export function checkSettings(config: Config): void {
  for (const [setting, problem] of problemsOf(config)) {
    if (problem !== null) throw new PungiError('CONFIGURATION_ERROR', `${setting}: ${problem}`, { setting });
  }
}

function* problemsOf(config: Config): Generator<[setting: string, problem: string | null]> {
  yield ['VENVS_BASE_PATH', whyNoFolder(config.venvsBasePath)];
  yield ['PUNGI_CACHE_DIR', whyNoFolder(config.cacheDir)];
  yield ['ARTIFACT_DIR', whyNoFolder(config.artifactDir, constants.W_OK)];
  yield ['BACKGROUND_DIR', whyNoFolder(config.backgroundDir, constants.W_OK)];
  for (const folder of config.scriptRoots) yield ['SCRIPT_ROOTS', whyFile(folder)];
  yield ['PREINSTALLED_PACKAGES', whyNoPackages(config)];
  yield ['PUNGI_UV', whyNoProgram(config.uv)];
}

/**
 * Returns why a folder neither exists nor can be created, or null. A folder of another user need only be readable, unless
 * more is needed.
 */
function whyNoFolder(path: string | undefined, needed = 0): string | null {
  if (path === undefined) return null;
  const folder = resolve(path);
  try {
    if (existsSync(folder)) {
      if (!statSync(folder).isDirectory()) return `${folder} is not a folder; name one.`;
      accessSync(folder, constants.R_OK | constants.X_OK | needed);
    } else makeAndRemove(folder);
    return null;
  } catch (error) {
    return `${folder} cannot be used: ${(error as Error).message}; name another folder.`;
  }
}

/**
 * Creates the folder to prove that it is possible, one level at a time: recursive mkdir never returns below /proc.
 */
function makeAndRemove(folder: string): void {
  const made: string[] = [];
  let missing = [folder];
  while (!existsSync(dirname(missing[0]!))) missing = [dirname(missing[0]!), ...missing];
  try {
    for (const each of missing) {
      mkdirSync(each, { mode: 0o700 });
      made.unshift(each);
    }
  } finally {
    for (const each of made) rmdirSync(each);
  }
}

/** A missing folder is allowed; a file of that name is a mistake. */
function whyFile(folder: string): string | null {
  try {
    const isFile = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false;
    return isFile ? `${folder} is a file; name its folder.` : null;
  } catch (error) {
    return `${folder} cannot be used: ${fileProblem(error)}; name another folder.`;
  }
}

function whyNoPackages({ preinstalledPackages, packageSources }: Config): string | null {
  try {
    parseRequirements(preinstalledPackages, packageSources);
    return null;
  } catch (thrown) {
    return PungiError.from(thrown).message;
  }
}

function whyNoProgram(program: string | undefined): string | null {
  if (program === undefined) return null;
  const found = findProgram(program, process.cwd(), process.env['PATH'] ?? '');
  return found === undefined ? `${program} is not a program; name a uv.` : null;
}
