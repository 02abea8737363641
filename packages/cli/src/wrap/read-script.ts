import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { countText, fileProblem, PungiError } from '@pungi/core/base';
import { MAX_CODE_BYTES } from '@pungi/core/contract';
import type { MissingImport } from '@pungi/wrap';
import { asText, readOwnFile } from '../own-files.js';

export interface OwnScript {
  /** Where it really is. */
  path: string;
  filename: string;
  code: string;
}

/** A script of the person at the command line. */
export function readOwnScript(file: string): OwnScript {
  if (file.endsWith('.ipynb'))
    throw invalid(
      `${file} is a notebook and no script: export it first (jupyter nbconvert --to script ${file}).`,
    );
  checkFile(file);
  const content = readOwnFile(file);
  if (content.includes(0)) throw invalid(`${file} is no Python script: it is not text.`);
  const path = realpathSync(file);
  return { path, filename: basename(path), code: asText(content, file) };
}

/** What is to go along with a script, by its path from the script's folder. */
export const includedPaths = ({ path: script }: OwnScript, paths: readonly string[] | undefined) =>
  paths?.map((path) => {
    const found = relative(dirname(script), realPlace(path)).replaceAll(sep, '/');
    if (found === '' || found === '..' || found.startsWith('../') || isAbsolute(found))
      throw invalid(`${path} does not lie below the folder of the script, and cannot go along with it.`);
    return found;
  });

/** Itself, and not what it leads to where it is a link. */
function realPlace(path: string): string {
  try {
    return join(realpathSync(dirname(resolve(path))), basename(resolve(path)));
  } catch (error) {
    throw invalid(`${path} cannot go along with the script: ${fileProblem(error)}.`);
  }
}

/** Before it is read: what comes out of a pipe or a device has no end, and no place to look for modules beside. */
function checkFile(file: string): void {
  const state = stateOf(file);
  if (state === undefined || state.isDirectory()) return;
  if (!state.isFile()) throw invalid(`${file} is no regular file.`);
  if (state.size > MAX_CODE_BYTES)
    throw invalid(`${file} is larger than ${MAX_CODE_BYTES} bytes, the most that code may be.`);
}

/** Undefined where it cannot be looked at: reading it says why. */
function stateOf(file: string) {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

const invalid = (message: string) => new PungiError('INVALID_INPUT', message);

/** What is missing, and what to do about it. Nothing where nothing is. */
export function missingLines(missing: readonly MissingImport[], environment: string | null): string[] {
  if (missing.length === 0) return [];
  const packages = [...new Set(missing.flatMap(({ package: name }) => name ?? []))];
  const names = missing.map(({ module, package: name }) =>
    name === null || name === module.toLowerCase().replaceAll('_', '-')
      ? module
      : `${module} (of the package ${name})`,
  );
  const what = `${countText(missing.length, 'import')} ${missing.length === 1 ? 'is' : 'are'} missing`;
  if (environment === null) {
    return [
      `${what} among the dependencies that the script names: ${names.join(', ')}`,
      'Unless another of them brings it along, add it to the "# /// script" block.',
    ];
  }
  const advice = missing.every(({ package: name }) => name !== null)
    ? [`Install with: pungi env install ${environment} ${packages.join(' ')}`]
    : [`Install their packages with: pungi env install ${environment} ${[...packages, '…'].join(' ')}`];
  return [`${what} in the environment "${environment}": ${names.join(', ')}`, ...advice];
}
