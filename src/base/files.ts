import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { PungiError } from './errors.js';

/**
 * The new file or the old one, whole, whenever this ends, and never through a link that has its name. The folder is made
 * where it is missing. The draft ends in ".tmp": whoever watches the folder does not take it for what it becomes. `what`
 * is what it is called where it cannot be written.
 */
export function writeWhole(path: string, content: string | Uint8Array, what = path): void {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(draft, content, { flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    discard(draft);
    throw new PungiError('INVALID_INPUT', `${what} cannot be written: ${fileProblem(error)}.`);
  }
}

/** Where it cannot even be looked for, there is none. */
function discard(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // what went wrong before is what is told
  }
}

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  ENOTDIR: 'it is no folder, or lies below a file',
  EACCES: 'permission denied',
};

/** Why a file cannot be read, in words. */
export function fileProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return REASONS[code ?? ''] ?? message;
}
