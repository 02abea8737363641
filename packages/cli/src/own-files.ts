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

/** Resolves the file that a path is written to. Refuses an existing file unless `force`. */
export function replaceableFile(path: string, force: boolean): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return path;
  if (!force) throw invalid(`${path} exists already; --force replaces it.`);
  const real = resolve(path);
  // Renaming over a device or a pipe would replace it by a file.
  if (!lstatSync(real).isFile()) throw invalid(`${path} is not a regular file.`);
  return real;
}

/** Writes a file of the user atomically. */
export function writeOwnFile(path: string, content: string | Buffer, force: boolean): void {
  const target = replaceableFile(path, force);
  try {
    writeAtomically(target, content, { isNew: !force });
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** Does the same for content too large to hold in memory. */
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
  return invalid(`Could not write ${path}: ${missing ? 'its folder does not exist' : fileProblem(error)}.`);
}

const invalid = (message: string) => new PungiError('INVALID_INPUT', message);

/** Reads a file of the user, with the user's own rights. `shown`: its path as the user wrote it. */
export function readOwnFile(path: string, shown = path): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw invalid(`Could not read ${shown}: ${fileProblem(error)}.`);
  }
}

export function asText(content: Buffer, what: string, advice?: string): string {
  if (!isUtf8(content)) throw invalid(`${what} is not UTF-8 text${advice ? `; ${advice}` : ''}.`);
  // TextDecoder drops a byte order mark, which Python's compiler would reject.
  return new TextDecoder().decode(content);
}

/** Reads standard input to its end. After a moment of waiting it prints a hint. */
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
    if (signal.aborted) throw new PungiError('CANCELLED', 'Cancelled while reading standard input.');
    throw error;
  } finally {
    clearTimeout(hint);
  }
  return Buffer.concat(chunks);
}
