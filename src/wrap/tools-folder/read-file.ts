import { stat } from 'node:fs/promises';
import { PungiError } from '../../base/errors.js';
import { readBounded } from '../../base/files.js';

/** Reads a text file of the tools folder: a regular one, and not more of it than is allowed. */
export function readTextFile(path: string, maxBytes: number, what: string): string {
  const refuse = (reason: string, isGone = false) =>
    new PungiError('INVALID_INPUT', `${what} cannot be used: ${reason}.`, { isGone });
  const read = readBounded(path, maxBytes);
  if ('problem' in read) throw refuse(read.problem, read.isMissing);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(read.bytes);
  } catch {
    throw refuse('it is not UTF-8 text');
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
