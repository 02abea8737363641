import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { PungiError } from '../../base/errors.js';
import { fileProblem } from '../../base/files.js';

/** Reads a text file of the tools folder: a regular one, and not more of it than is allowed. */
export async function readTextFile(path: string, maxBytes: number, what: string): Promise<string> {
  const refuse = (reason: string) => new PungiError('INVALID_INPUT', `${what} cannot be used: ${reason}.`);
  try {
    // Looked at first, since opening alone can do something; and again, since names can change.
    if (!(await stat(path)).isFile()) throw refuse('it is no regular file');
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const state = await handle.stat();
      if (!state.isFile()) throw refuse('it is no regular file');
      if (state.size > maxBytes) throw refuse(`it is larger than ${maxBytes} bytes`);
      const bytes = Buffer.alloc(Math.min(state.size, maxBytes) + 1);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
      if (bytesRead > maxBytes) throw refuse(`it is larger than ${maxBytes} bytes`);
      return decode(bytes.subarray(0, bytesRead), () => refuse('it is not UTF-8 text'));
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof PungiError) throw error;
    const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new PungiError('INVALID_INPUT', `${what} cannot be used: ${fileProblem(error)}.`, { isGone });
  }
}

function decode(bytes: Buffer, refuse: () => PungiError): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuse();
  }
}

interface FilesState {
  /** Another text means that one of them was changed. */
  text: string;
  /** So lately that another change in the same moment could look the same. */
  isRecent: boolean;
}

const RECENT_MS = 2000;

export async function stateOf(paths: readonly string[]): Promise<FilesState> {
  const states = await Promise.all(
    paths.map((path) =>
      stat(path, { bigint: true }).then(
        ({ ino, size, mtimeNs, ctimeNs, ctimeMs }) => ({
          text: `${path} ${ino} ${size} ${mtimeNs} ${ctimeNs}`,
          at: Number(ctimeMs),
        }),
        () => ({ text: `${path} none`, at: 0 }),
      ),
    ),
  );
  const newest = Math.max(0, ...states.map(({ at }) => at));
  return {
    text: states.map(({ text }) => text).join('\n'),
    isRecent: Math.abs(Date.now() - newest) < RECENT_MS,
  };
}
