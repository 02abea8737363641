import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { countText, fileProblem, PungiError } from '@pungi/core/base';
import { MAX_CODE_BYTES } from '@pungi/core/contract';
import type { MissingImport } from '@pungi/wrap';
import { asText, readOwnFile } from '../own-files.js';

export interface OwnScript {
  /** The real path of the file. */
  path: string;
  filename: string;
  code: string;
}

/** Reads a script of the user. */
export function readOwnScript(file: string): OwnScript {
  if (file.endsWith('.ipynb'))
    throw invalid(
      `${file} is a notebook, not a script: export it first (jupyter nbconvert --to script ${file}).`,
    );
  checkFile(file);
  const content = readOwnFile(file);
  if (content.includes(0)) throw invalid(`${file} is not a Python script: it is not text.`);
  const path = realpathSync(file);
  return { path, filename: basename(path), code: asText(content, file) };
}

/** Returns the included files by their paths relative to the script's folder. */
export const includedPaths = ({ path: script }: OwnScript, paths: readonly string[] | undefined) =>
  paths?.map((path) => {
    const found = relative(dirname(script), realPlace(path)).replaceAll(sep, '/');
    if (found === '' || found === '..' || found.startsWith('../') || isAbsolute(found))
      throw invalid(`Cannot include ${path}: it is not below the folder of the script.`);
    return found;
  });

/** Resolves the folder of a path, but not a link itself. */
function realPlace(path: string): string {
  try {
    return join(realpathSync(dirname(resolve(path))), basename(resolve(path)));
  } catch (error) {
    throw invalid(`Cannot include ${path}: ${fileProblem(error)}.`);
  }
}

/** Checks before reading: a pipe or a device has no end, and no folder with other modules. */
function checkFile(file: string): void {
  const state = stateOf(file);
  if (state === undefined || state.isDirectory()) return;
  if (!state.isFile()) throw invalid(`${file} is not a regular file.`);
  if (state.size > MAX_CODE_BYTES)
    throw invalid(`${file} is larger than ${MAX_CODE_BYTES} bytes, the limit for code.`);
}

/** Returns undefined if the file cannot be examined: reading it then reports the reason. */
function stateOf(file: string) {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

const invalid = (message: string) => new PungiError('INVALID_INPUT', message);

/** Lists missing imports and how to install them; empty if there are none. */
export function missingLines(missing: readonly MissingImport[], environment: string | null): string[] {
  if (missing.length === 0) return [];
  const packages = [...new Set(missing.flatMap(({ package: name }) => name ?? []))];
  const names = missing.map(({ module, package: name }) =>
    name === null || name === module.toLowerCase().replaceAll('_', '-')
      ? module
      : `${module} (package ${name})`,
  );
  const what = `${countText(missing.length, 'import')} ${missing.length === 1 ? 'is' : 'are'} missing`;
  if (environment === null) {
    return [
      `${what} in the dependencies of the script: ${names.join(', ')}`,
      'Add it to the "# /// script" block, unless another dependency installs it.',
    ];
  }
  const advice = missing.every(({ package: name }) => name !== null)
    ? [`Install with: pungi env install ${environment} ${packages.join(' ')}`]
    : [`Install their packages with: pungi env install ${environment} ${[...packages, '…'].join(' ')}`];
  return [`${what} in the environment "${environment}": ${names.join(', ')}`, ...advice];
}
