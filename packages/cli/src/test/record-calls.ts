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
import type { Answer, CommandContext } from '../act.js';
import { replaceableFile, writeOwnFile } from '../own-files.js';
import { FAILED, type RecordFlags } from './flags.js';
import { addressOf, type Target } from './server.js';
import { serverFor } from './write-first-spec.js';

/** `pungi test record`. */
export async function recordCalls(
  argv: readonly string[],
  flags: RecordFlags,
  { steps: { signal } }: CommandContext,
): Promise<Answer> {
  const { url, output, force = false } = flags;
  if (flags.json)
    throw new PungiError('INVALID_INPUT', 'record has no --json: standard output belongs to the client.');
  if (argv.length > 0 === (url !== undefined))
    throw new PungiError(
      'INVALID_INPUT',
      url === undefined
        ? 'Name a server: "-- COMMAND …" to start one, or --url for a running one.'
        : 'Name one server: a command or --url, not both.',
    );
  replaceableFile(output, force);
  return url === undefined ? recordStdio(argv, flags, signal) : recordHttp(addressOf(url), flags, signal);
}

const report = (sentence: string): void => {
  process.stderr.write(`pungi: ${sentence}\n`);
};

/** Writes the calls recorded so far. A failure is reported, and the client is still served. */
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
    report(PungiError.from(error).message);
  }
}

const reportRecorded = ({ calls }: Recorder, { output }: RecordFlags): void =>
  report(
    calls.length === 0
      ? 'no call was made, and nothing was written'
      : `${countText(calls.length, 'call')} in ${output}`,
  );

/** Records between clients and an HTTP server, until the signal. */
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
    onProblem: report,
  }).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EADDRINUSE' ? 'it is in use' : error.message;
    throw new PungiError('INVALID_INPUT', `Could not listen on port ${port}: ${why}.`);
  });
  report(`connect the client to ${proxy.url} instead of ${url.href}; Ctrl-C stops`);
  if (!signal.aborted) await once(signal, 'abort');
  await proxy.close();
  reportRecorded(recorder, flags);
  return { text: '' };
}

/** The variable that replaces a header in the file: its value belongs to the user of the tests. */
const variableOf = (header: string) => header.toUpperCase().replace(/[^A-Z0-9]+/g, '_');

/** Longer messages are forwarded but not recorded. */
const MOST_LINE_BYTES = 10 * 1024 * 1024;
const STOP_TIMEOUT_MS = 5000;

/** Records between a client on our standard input and output, and a server started for it. */
async function recordStdio(
  argv: readonly string[],
  flags: RecordFlags,
  signal: AbortSignal,
): Promise<Answer> {
  const { serverEnv = {} } = flags;
  const [command, ...args] = argv;
  const server = ServerUnderTest.parse({ command, args, env: serverEnv });
  const folder = process.cwd();
  const recorder = new Recorder();
  // The server gets the client's environment, which is not written to the file.
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
  if (first === 'client') await child.stop(STOP_TIMEOUT_MS);
  const { status, signal: killedBy } = await child.exited;
  process.stdin.destroy();
  passStderr();
  reportRecorded(recorder, flags);
  if (first === 'client' || status === 0) return { text: '' };
  report(`the server ended ${killedBy === null ? `with status ${status}` : `by ${killedBy}`}`);
  return { text: '', status: FAILED };
}

/** Forwards everything at once, and passes a copy to a reader. */
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

/** The server's standard error goes to ours, which the client shows. */
function stderrOf({ stderr }: ServerProcess): () => void {
  let mark = 0;
  return () => {
    const text = stderr.since(mark);
    mark = stderr.mark();
    if (text !== '') process.stderr.write(text);
  };
}
