import { isUtf8 } from 'node:buffer';
import { createWriteStream, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { addAbortSignal, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  discardDraft,
  draftOf,
  fileProblem,
  PungiError,
  settleDraft,
  writeAtomically,
} from '@pungi/core/base';

/** Where a file of this name would really be written. Refuses what is there already, unless it may be replaced. */
export function replaceableFile(path: string, force: boolean): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return path;
  if (!force) throw invalid(`${path} exists already; --force replaces it.`);
  const real = resolve(path);
  // Renaming over a device or a pipe would put a file in its place.
  if (!lstatSync(real).isFile()) throw invalid(`${path} is not a regular file.`);
  return real;
}

/** The whole content or nothing, whenever this ends, in a file of the person at the command line. */
export function writeOwnFile(path: string, content: string, force: boolean): void {
  const target = replaceableFile(path, force);
  try {
    writeAtomically(target, content, { isNew: !force });
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** The same for what is too much to hold at once. */
export async function writeOwnLines(
  path: string,
  lines: AsyncIterable<string>,
  force: boolean,
): Promise<void> {
  const target = replaceableFile(path, force);
  const draft = draftOf(target);
  try {
    await pipeline(Readable.from(lines), createWriteStream(draft, { flags: 'wx' }));
    settleDraft(draft, target, !force);
  } catch (error) {
    throw error instanceof PungiError ? error : unwritable(path, error);
  } finally {
    discardDraft(draft);
  }
}

function resolve(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw unwritable(path, error);
  }
}

function unwritable(path: string, error: unknown): PungiError {
  const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
  return invalid(`${path} cannot be written: ${missing ? 'its folder does not exist' : fileProblem(error)}.`);
}

const invalid = (message: string) => new PungiError('INVALID_INPUT', message);

/** A file of the person at the command line, read with the person's own rights. */
export function readOwnFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw invalid(`${path} cannot be read: ${fileProblem(error)}.`);
  }
}

export function asText(content: Buffer, what: string, advice?: string): string {
  if (!isUtf8(content)) throw invalid(`${what} is not UTF-8 text${advice ? `; ${advice}` : ''}.`);
  // A decoder, because it drops a byte order mark, on which Python's compiler would stop.
  return new TextDecoder().decode(content);
}

/** Standard input to its end. Whoever did not mean to give any gets a message after a moment. */
export async function readStdin(signal: AbortSignal, advice?: string): Promise<Buffer> {
  const hint = setTimeout(() => {
    process.stderr.write(`pungi: waiting for standard input to end${advice ? `; ${advice}` : ''}.\n`);
  }, 3000);
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of addAbortSignal(signal, process.stdin)) {
      clearTimeout(hint);
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    if (signal.aborted) throw new PungiError('CANCELLED', 'Cancelled while standard input was read.');
    throw error;
  } finally {
    clearTimeout(hint);
  }
  return Buffer.concat(chunks);
}
