import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { countText, PungiError } from '@pungi/core/base';
import { ServerUnderTest } from '@pungi/core/contract';
import type { ServerProcess } from '@pungi/core/processes';
import {
  HttpProxy,
  LineReader,
  Recorder,
  recordedSpec,
  ServerFault,
  specText,
  startProcess,
} from '@pungi/harness';
import type { Answer, Surroundings } from '../act.js';
import { replaceableFile, writeOwnFile } from '../own-files.js';
import { FAILED, type RecordFlags } from './flags.js';
import { addressOf, type Target } from './server.js';
import { serverFor } from './write-first-spec.js';

/** `pungi test record`. */
export async function recordCalls(
  words: readonly string[],
  flags: RecordFlags,
  { steps: { signal } }: Surroundings,
): Promise<Answer> {
  const { url, output, force = false } = flags;
  if (flags.json)
    throw new PungiError('INVALID_INPUT', 'record has no --json: standard output belongs to the client.');
  if (words.length > 0 === (url !== undefined))
    throw new PungiError(
      'INVALID_INPUT',
      url === undefined
        ? 'Say which server: "-- COMMAND …" to start one, or --url for one that runs.'
        : 'Say in one way which server: a command, or --url.',
    );
  replaceableFile(output, force);
  return url === undefined ? recordStdio(words, flags, signal) : recordHttp(addressOf(url), flags, signal);
}

const tell = (sentence: string): void => {
  process.stderr.write(`pungi: ${sentence}\n`);
};

/** Writes what has been recorded so far. The client goes on to be served, whatever comes of it. */
function writeRecorded(
  { calls, server }: Recorder,
  target: Target,
  { output, exact: isExact = false }: RecordFlags,
): void {
  const name = server?.name ?? 'recorded';
  const specification = recordedSpec(calls, { name, server: serverFor(target, output), isExact });
  const comments = ['Written by "pungi test record". Run it with "pungi test".'];
  try {
    writeOwnFile(output, specText(comments, specification), true);
  } catch (error) {
    tell(PungiError.from(error).message);
  }
}

const tellRecorded = ({ calls }: Recorder, { output }: RecordFlags): void =>
  tell(
    calls.length === 0
      ? 'no call was made, and nothing was written'
      : `${countText(calls.length, 'call')} in ${output}`,
  );

/** Between clients and a server that answers over HTTP, until the signal. */
async function recordHttp(url: URL, flags: RecordFlags, signal: AbortSignal): Promise<Answer> {
  const { header = {}, port } = flags;
  const headers = Object.fromEntries(
    Object.entries(header).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const recorder = new Recorder();
  const proxy = await HttpProxy.start({
    url,
    port,
    headers,
    recorder,
    onCall: () => {
      const secret = new Set([...Object.keys(headers), ...proxy.credentials]);
      const references = [...secret].map((name) => [name, `\${env:${variableOf(name)}}`]);
      const server = { transport: 'http', url: url.href, headers: Object.fromEntries(references) };
      writeRecorded(recorder, { server: ServerUnderTest.parse(server), folder: process.cwd() }, flags);
    },
    onProblem: tell,
  }).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EADDRINUSE' ? 'it is in use' : error.message;
    throw new PungiError('INVALID_INPUT', `Port ${port} cannot be had: ${why}.`);
  });
  tell(`give the client ${proxy.url} in place of ${url.href}; Ctrl-C ends`);
  if (!signal.aborted) await once(signal, 'abort');
  await proxy.close();
  tellRecorded(recorder, flags);
  return { text: '' };
}

/** What stands for a header in the file: its value is a matter of whoever runs the tests. */
const variableOf = (header: string) => header.toUpperCase().replace(/[^A-Z0-9]+/g, '_');

/** Longer messages are passed on, and not recorded. */
const MOST_LINE_BYTES = 10 * 1024 * 1024;
const PATIENCE_MS = 5000;

/** Between a client on our own standard input and output, and a server that is started for it. */
async function recordStdio(
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
