import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
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

/** Writes a file atomically. Creates the folder if it is missing. `what` names the file in the error message. */
export function writeWhole(path: string, content: string | Uint8Array, what = path): void {
  try {
    makeFolders(dirname(path));
    writeAtomically(path, content);
  } catch (error) {
    throw new PungiError('INVALID_INPUT', `${what} cannot be written: ${fileProblem(error)}.`);
  }
}

/** Creates a folder and its missing parents. Node's recursive mkdir never ends where nothing can be created, such as below /proc. */
export function makeFolders(path: string, mode = 0o777): void {
  const isThere = () => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isThere()) return;
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) makeFolders(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have created it.
    if (!isThere()) throw error;
  }
}

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  ENOTDIR: 'it is not a folder, or it lies below a file',
  EEXIST: 'there is a file of that name',
  EACCES: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
};

/** Returns why a file cannot be read or written, as a clause. */
export function fileProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return REASONS[code ?? ''] ?? message;
}

const BLOCK_BYTES = 64 * 1024;

/** Reads a regular file of at most `most` bytes, or returns why it cannot. */
export function readBounded(
  path: string,
  most: number,
): { bytes: Buffer } | { problem: string; isMissing?: boolean } {
  try {
    // Checked before opening: opening a device can have side effects, and a pipe may never end.
    const stat = statSync(path);
    if (!stat.isFile() && !stat.isDirectory()) return { problem: 'it is not a regular file' };
    const bytes = stat.size > most ? undefined : readUpTo(path, most);
    return bytes === undefined ? { problem: `it is larger than ${most} bytes` } : { bytes };
  } catch (error) {
    return { problem: fileProblem(error), isMissing: (error as NodeJS.ErrnoException).code === 'ENOENT' };
  }
}

/** Returns undefined if there is more. Files of the kernel, as below /proc, report no size, and some never end. */
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

/** Removes the byte order mark: for Python and editors it is not part of the text. */
export const withoutMark = (text: string): string => text.replace(/^\ufeff/, '');

/**
 * Returns the folder of environments and tools. The sandbox's user reads them, so a server that runs as root does not
 * put them into root's home.
 */
export function dataFolder(env = process.env, uid = process.getuid?.()): string {
  if (env['PUNGI_DATA_DIR']) return env['PUNGI_DATA_DIR'];
  if (uid === 0) return '/var/lib/pungi';
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'pungi');
}

/** Returns $XDG_STATE_HOME/pungi, or ~/.local/state/pungi: what the server keeps for itself. */
export const stateFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  join(env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local', 'state'), 'pungi');

interface AtomicWriteOptions {
  /** The file's mode, whatever the umask; that of any new file unless it is given. */
  mode?: number;
  /** Makes the content outlast a power loss; its name does after `syncFolder`. */
  isDurable?: boolean;
  /** Throws EEXIST instead of replacing a file. */
  isNew?: boolean;
}

/** The file has its old or its new content at every instant, and is never written through a link that has its name. */
export function writeAtomically(
  path: string,
  content: string | Uint8Array,
  { mode, isDurable = false, isNew = false }: AtomicWriteOptions = {},
): void {
  const draft = draftOf(path);
  try {
    const file = openSync(draft, 'wx', mode === undefined ? 0o666 : 0o600);
    try {
      if (mode !== undefined) fchmodSync(file, mode);
      writeFileSync(file, content);
      if (isDurable) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    settleDraft(draft, path, isNew);
  } finally {
    discardDraft(draft);
  }
}

/** The path of the draft. It ends in ".tmp", so that programs that watch the folder ignore it. */
export const draftOf = (path: string): string => `${path}.${randomUUID()}.tmp`;

/** Puts a whole draft in its place. A link, unlike a rename, does not replace what somebody else has put there meanwhile. */
export function settleDraft(draft: string, path: string, isNew: boolean): void {
  if (isNew) linkSync(draft, path);
  else renameSync(draft, path);
}

/** Removes what is left of a draft, if anything. */
export function discardDraft(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // It cannot even be looked for; what went wrong before is reported.
  }
}

/** Makes new names in the folder outlast a power loss. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
