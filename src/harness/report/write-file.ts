import { lstat, writeFile } from 'node:fs/promises';
import { PungiError } from '../../base/errors.js';
import { fileProblem } from '../../base/file-problem.js';
import { writeWhole } from '../../base/write-whole.js';

/** A pipe or a device is written to, since renaming would put a file in its place; so is what a link leads to. */
export async function writeReport(path: string, content: string): Promise<void> {
  const what = `The report ${path}`;
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.isFile()) return writeWhole(path, content, what);
  await writeFile(path, content).catch((error: unknown) => {
    throw new PungiError('INVALID_INPUT', `${what} cannot be written: ${fileProblem(error)}.`);
  });
}
