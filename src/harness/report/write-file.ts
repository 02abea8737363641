import { lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PungiError } from '../../base/errors.js';
import { fileProblem } from '../../base/file-problem.js';

/** The whole content or what was there before, in a folder that is made where it is missing. */
export async function writeWhole(path: string, content: string): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true });
    // A pipe or a device is written to; renaming would put a file in its place. A link is followed.
    const found = await lstat(path).catch(() => undefined);
    if (found !== undefined && !found.isFile()) return await writeFile(path, content);
    await writeFile(draft, content, { flag: 'wx' });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw new PungiError('INVALID_INPUT', `The report ${path} cannot be written: ${fileProblem(error)}.`);
  }
}
