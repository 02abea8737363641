import { basename } from 'node:path';
import { PungiError } from '../base/errors.js';
import type { Limits } from '../contract/limits.js';
import type { RunRequest } from '../contract/run.js';
import type { Job } from '../runtime/supervisor.js';

/** Where the folders of a profile appear in the work folder. */
export const DATA_FOLDER = 'data';

/** What is handed over must find room in the work folder, and no file can lie below another file. */
export function checkFits({ files = [], stdin = '', inputData = [] }: RunRequest, { diskMb }: Limits): void {
  const paths = new Set(files.map(({ path }) => path));
  const below = findBelow(paths);
  if (below !== undefined)
    throw new PungiError('INVALID_INPUT', `The file "${below}" lies below another file.`);
  if (paths.size < files.length) throw new PungiError('INVALID_INPUT', 'Two files have the same path.');
  const bytes = [...files.map(({ text, base64 }) => text ?? base64 ?? ''), stdin, ...inputData].reduce(
    (sum, text) => sum + Buffer.byteLength(text) + 1,
    0,
  );
  if (bytes > diskMb * 1024 * 1024) {
    throw new PungiError(
      'INVALID_INPUT',
      `The files and the input are larger than the ${diskMb} MB that the run may write.`,
    );
  }
}

/** The name of the script's file in the work folder: that of a script without a name yields to a file of the request. */
export function scriptName({ filename, file, files = [] }: RunRequest): string {
  if (filename !== undefined || file !== undefined) return filename ?? basename(file!);
  return files.some(({ path }) => path === 'main.py') ? '__main__.py' : 'main.py';
}

/** The script lies in the work folder, too. */
export function checkBesideScript(filename: string, code: string, files: Job['files']): void {
  const taking = files.find(({ path }) => path === filename || path.startsWith(`${filename}/`));
  const isScript =
    taking?.path === filename && Buffer.from(code).equals(Buffer.from(taking.base64, 'base64'));
  if (taking === undefined || isScript) return;
  throw new PungiError(
    'INVALID_INPUT',
    `The file "${taking.path}" takes the place of the script, which is called "${filename}". Give one of them another name.`,
  );
}

/** Where a profile has folders with data, their place is taken. */
export function checkBesideData({ files = [] }: RunRequest, profile: string): void {
  const inside = files.find(({ path }) => path.split('/', 1)[0] === DATA_FOLDER);
  if (inside === undefined) return;
  throw new PungiError(
    'INVALID_INPUT',
    `The file "${inside.path}" cannot be handed over: below "${DATA_FOLDER}" are the folders of the profile "${profile}". Give it another path.`,
  );
}

/** A path that lies below another one. In the order of "path/", what lies below a path follows it at once. */
function findBelow(paths: ReadonlySet<string>): string | undefined {
  const ordered = Array.from(paths, (path) => `${path}/`).sort();
  return ordered.find((path, index) => index > 0 && path.startsWith(ordered[index - 1]!))?.slice(0, -1);
}
