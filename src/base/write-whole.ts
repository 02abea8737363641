import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { PungiError } from './errors.js';
import { fileProblem } from './file-problem.js';

/**
 * The new file or the old one, whole, whenever this ends, and never through a link that has its name. The folder is made
 * where it is missing. The draft ends in ".tmp": whoever watches the folder does not take it for what it becomes.
 */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(draft, content, { flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    throw new PungiError('INVALID_INPUT', `${path} cannot be written: ${fileProblem(error)}.`);
  } finally {
    rmSync(draft, { force: true });
  }
}
