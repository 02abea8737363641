import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
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
    // what went wrong before is reported
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

const BLOCK_BYTES = 64 * 1024;

/** The content of a regular file of at most `most` bytes, or the reason why there is none. */
export function readBounded(
  path: string,
  most: number,
): { bytes: Buffer } | { problem: string; isMissing?: boolean } {
  try {
    // Looked at first: opening a device can do something, and a pipe may never end.
    const stat = statSync(path);
    if (!stat.isFile() && !stat.isDirectory()) return { problem: 'it is no regular file' };
    const bytes = stat.size > most ? undefined : readUpTo(path, most);
    return bytes === undefined ? { problem: `it is larger than ${most} bytes` } : { bytes };
  } catch (error) {
    return { problem: fileProblem(error), isMissing: (error as NodeJS.ErrnoException).code === 'ENOENT' };
  }
}

/** Undefined where there is more. Files that the system makes up, as below /proc, have no size, and some never end. */
function readUpTo(path: string, most: number): Buffer | undefined {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const parts: Buffer[] = [];
    for (let bytes = 0; bytes <= most; ) {
      const part = Buffer.allocUnsafe(BLOCK_BYTES);
      const read = readSync(file, part);
      if (read === 0) return Buffer.concat(parts);
      parts.push(part.subarray(0, read));
      bytes += read;
    }
    return undefined;
  } finally {
    closeSync(file);
  }
}

/** A byte order mark at the start of a file is no part of its text, for Python as for every editor. */
export const withoutMark = (text: string): string => text.replace(/^\ufeff/, '');

/**
 * Where environments and tools are kept. The sandbox's user reads them, so a server that runs as root does not put them
 * into root's home.
 */
export function dataFolder(env = process.env, uid = process.getuid?.()): string {
  if (env['PUNGI_DATA_DIR']) return env['PUNGI_DATA_DIR'];
  if (uid === 0) return '/var/lib/pungi';
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'pungi');
}
