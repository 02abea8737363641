import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { PungiError } from '../../base/errors.js';
import { ServerUnderTest } from '../../contract/spec.js';
import { Recorder } from '../../harness/record/recorder.js';
import { ServerFault } from '../../harness/run/server-fault.js';
import { startProcess } from '../../harness/run/start-server.js';
import { LineReader } from '../../harness/run/stdio-transport.js';
import type { ServerProcess } from '../../runtime/server-process.js';
import type { Answer } from '../act.js';
import type { RecordFlags } from './flags.js';
import { tell, tellRecorded, writeRecorded } from './recorded-file.js';
import { FAILED } from './subcommand.js';

/** Longer messages are passed on, and not recorded. */
const MOST_LINE_BYTES = 10 * 1024 * 1024;
const PATIENCE_MS = 5000;

/** Between a client on our own standard input and output, and a server that is started for it. */
export async function recordStdio(
  words: readonly string[],
  flags: RecordFlags,
  signal: AbortSignal,
): Promise<Answer> {
  const { serverEnv = {} } = flags;
  const [command, ...args] = words;
  const server = ServerUnderTest.parse({ command, args, env: serverEnv });
  const folder = process.cwd();
  const recorder = new Recorder();
  // What the client gives to the server reaches it, and is in no file.
  const inherited = { ...process.env, ...serverEnv } as Record<string, string>;
  const child = await startProcess(
    { ...server, command: command!, env: inherited },
    { environment: {}, folder, python: undefined },
  ).catch((error: unknown) => {
    throw error instanceof ServerFault ? new PungiError('INVALID_INPUT', error.message) : error;
  });
  const passStderr = stderrOf(child);
  const fromClient = readLines((line) => recorder.fromClient(line));
  const fromServer = readLines((line) => {
    if (recorder.fromServer(line)) writeRecorded(recorder, { server, folder }, flags);
  });
  pass(process.stdin, child.stdin, fromClient);
  pass(child.stdout, process.stdout, (chunk) => {
    passStderr();
    fromServer(chunk);
  });
  const clientGone = Promise.race([
    once(process.stdin, 'end'),
    once(process.stdin, 'close'),
    once(signal, 'abort'),
  ]).catch(() => {});
  const first = await Promise.race([clientGone.then(() => 'client'), child.exited.then(() => 'server')]);
  if (first === 'client') await child.stop(PATIENCE_MS);
  const { status, signal: killedBy } = await child.exited;
  process.stdin.destroy();
  passStderr();
  tellRecorded(recorder, flags);
  if (first === 'client' || status === 0) return { text: '' };
  tell(`the server ended ${killedBy === null ? `with status ${status}` : `by ${killedBy}`}`);
  return { text: '', status: FAILED };
}

/** Passes everything on at once, and lets somebody read along. */
function pass(from: Readable, to: Writable, readAlong: (chunk: Buffer) => void): void {
  to.on('error', () => {});
  from.on('data', (chunk: Buffer) => {
    if (!to.write(chunk)) {
      from.pause();
      to.once('drain', () => from.resume());
    }
    readAlong(chunk);
  });
  from.on('error', () => {});
}

const readLines = (onLine: (line: string) => void): ((chunk: Buffer) => void) => {
  const lines = new LineReader(MOST_LINE_BYTES, onLine, () => {});
  return (chunk) => lines.add(chunk);
};

/** What the server says to people goes where the client shows it. */
function stderrOf({ stderr }: ServerProcess): () => void {
  let mark = 0;
  return () => {
    const text = stderr.since(mark);
    mark = stderr.mark();
    if (text !== '') process.stderr.write(text);
  };
}
