import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { PungiError } from '../base/errors.js';
import { fileProblem } from '../base/files.js';

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

/** Standard input to its end. Whoever did not mean to give any is told, after a moment. */
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

const invalid = (message: string) => new PungiError('INVALID_INPUT', message);
