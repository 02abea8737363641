import { constants } from 'node:fs';
import { open, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { PungiError } from '../base/errors.js';
import type { Outcome } from '../contract/outcome.js';
import { MAX_CODE_BYTES } from '../contract/run.js';

/** A script of the server, and its path below a root; all paths are real ones. */
export interface ScriptFile {
  code: string;
  root: string;
  path: string;
}

/** Reads a script below one of the roots. It checks the opened file, so that no link can leave the roots. */
export async function readScript(file: string, roots: string[]): Promise<ScriptFile> {
  if (roots.length === 0) {
    throw new PungiError(
      'DENIED',
      'Running files is off: set SCRIPT_ROOTS to the folders whose scripts may run.',
    );
  }
  const found = await findBelow(file, roots, MAX_CODE_BYTES);
  if (found === undefined)
    throw new PungiError('DENIED', `There is no readable file "${file}" below the script roots.`, { file });
  try {
    const { root, path } = found;
    return { code: new TextDecoder('utf-8', { fatal: true }).decode(found.bytes), root, path };
  } catch {
    throw new PungiError('INVALID_INPUT', 'The file is not UTF-8 text.');
  }
}

/**
 * Reads a file below one of the roots; undefined if there is none. `isAllowed` judges its real path relative to
 * the root.
 */
export async function readBelow(
  file: string,
  roots: string[],
  maxBytes: number,
  isAllowed: (path: string) => boolean = () => true,
): Promise<Buffer | undefined> {
  return (await findBelow(file, roots, maxBytes, isAllowed))?.bytes;
}

async function findBelow(
  file: string,
  roots: string[],
  maxBytes: number,
  isAllowed: (path: string) => boolean = () => true,
): Promise<{ bytes: Buffer; root: string; path: string } | undefined> {
  const realRoots = await realOnes(roots);
  const rootOf = (path: string) =>
    realRoots.find((root) => isBelow(path, [root]) && isAllowed(relative(root, path)));
  for (const path of candidates(file, roots)) {
    const found = await readRegular(path, (real) => rootOf(real) !== undefined, maxBytes);
    if (found === undefined) continue;
    const root = rootOf(found.real)!;
    return { bytes: found.bytes, root, path: relative(root, found.real) };
  }
  return undefined;
}

/** Returns the roots as folders that runs can be shown. */
export async function foldersOfScripts(roots: string[]): Promise<{ name: string; path: string }[]> {
  const existing = [...new Set(await realOnes(roots))];
  return existing.map((path, index) => ({ name: `.scripts-${index + 1}`, path }));
}

const candidates = (file: string, roots: string[]) =>
  isAbsolute(file) ? [file] : roots.map((root) => resolve(root, file));

const realOnes = async (paths: string[]) =>
  (await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)))).filter(
    (path) => path !== undefined,
  );

async function readRegular(
  path: string,
  isBelowRoot: (path: string) => boolean,
  maxBytes: number,
): Promise<{ bytes: Buffer; real: string } | undefined> {
  // Checked before opening, because opening a device can have side effects, and after it, because names can change.
  const place = await realpath(path).catch(() => undefined);
  if (place === undefined || !isBelowRoot(place)) return undefined;
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const real = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => realpath(path));
    const stat = await handle.stat();
    if (!stat.isFile() || !isBelowRoot(real)) return undefined;
    if (stat.size > maxBytes) {
      throw new PungiError('INVALID_INPUT', `The file is larger than ${maxBytes} bytes.`);
    }
    return { bytes: await handle.readFile(), real };
  } finally {
    await handle.close();
  }
}

const isBelow = (path: string, roots: string[]) =>
  roots.some((root) => path.startsWith(root.endsWith(sep) ? root : root + sep));

/** The files of the server that a run may have meant. */
interface Places {
  /** The script, if it is one of them. */
  file: string | undefined;
  /** The roots that may be read. */
  roots: string[];
  /** The folders that a run has as data/NAME. */
  data: readonly { name: string; path: string }[];
  /** Whether the run was to see the folder of the script. */
  isShown: boolean;
}

/** Adds a hint for a module next to the script, or a file that the run did not find and the server has. */
export async function pointToFiles(
  outcome: Outcome,
  places: Places,
  passFile: (path: string) => string,
): Promise<Outcome> {
  const { verdict } = outcome;
  if (verdict.kind !== 'python-error') return outcome;
  const { missingModule, type, message } = verdict.exception;
  const hint =
    missingModule === null
      ? await fileHint(missingFile(type, message), places, passFile)
      : await moduleHint(missingModule, places, passFile);
  if (hint === undefined) return outcome;
  // A file of the caller, whatever packages have its name.
  const exception = { ...verdict.exception, missingPackage: null, hint };
  return { ...outcome, verdict: { ...verdict, exception } };
}

async function moduleHint(
  module: string,
  { file, roots, isShown }: Places,
  passFile: (path: string) => string,
) {
  const path = file === undefined ? undefined : await siblingModule({ file, roots }, module);
  if (path === undefined) return undefined;
  const why = isShown
    ? `the sandbox's user cannot read it there: let other users read it and its folder, or`
    : 'a run sees only the files passed to it:';
  return `"${path}" lies next to the script, but ${why} ${passFile(path)}.`;
}

/** Returns the module's file, relative to the folder of the script. */
async function siblingModule(
  { file, roots }: { file: string; roots: string[] },
  module: string,
): Promise<string | undefined> {
  if (!/^\w+(?:\.\w+){0,9}$/.test(module)) return undefined;
  const path = module.replaceAll('.', '/');
  const realRoots = await realOnes(roots);
  for (const folder of candidates(file, roots).map((one) => dirname(one))) {
    for (const beside of [`${path}.py`, `${path}/__init__.py`]) {
      const [real] = await realOnes([join(folder, beside)]);
      if (real !== undefined && isBelow(real, realRoots)) return beside;
    }
  }
  return undefined;
}

/** Returns the path that a run could not open. A hint shows it only if it is that of a file. */
function missingFile(type: string, message: string): string | undefined {
  const [, path] = /No such file or directory: '([^'\\\p{C}]{1,1000})'$/u.exec(message) ?? [];
  return type === 'FileNotFoundError' && !path?.split('/').includes('..') ? path : undefined;
}

async function fileHint(
  path: string | undefined,
  { file, roots, data }: Places,
  passFile: (path: string) => string,
): Promise<string | undefined> {
  if (path === undefined) return undefined;
  for (const { name, path: folder } of data) {
    const below = path.startsWith(`${name}/`) ? [path, path.slice(name.length + 1)] : [path];
    const found = await foundBelow(
      below.map((one) => resolve(folder, one)),
      [folder],
    );
    if (found !== undefined) return `There is a file "${found}" in the data: open "data/${name}/${found}".`;
  }
  const beside = file === undefined || isAbsolute(path) ? [] : candidates(file, roots).map(dirname);
  const folders = [...roots, ...beside];
  const found = await foundBelow(isAbsolute(path) ? [path] : folders.map((root) => join(root, path)), roots);
  return found === undefined
    ? undefined
    : `There is a file "${found}", but a run sees only the files passed to it: ${passFile(found)}.`;
}

/** Returns the first of these files that exists below the roots, relative to its root. */
async function foundBelow(paths: readonly string[], roots: readonly string[]): Promise<string | undefined> {
  const realRoots = await realOnes([...roots]);
  for (const real of await realOnes([...paths])) {
    const root = realRoots.find((one) => isBelow(real, [one]));
    if (root !== undefined && !/\p{C}/u.test(real)) return relative(root, real);
  }
  return undefined;
}
