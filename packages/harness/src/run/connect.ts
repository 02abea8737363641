import { setTimeout as pause } from 'node:timers/promises';
import { Client, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { VERSION } from '@pungi/core/base';
import type { ServerUnderTest } from '@pungi/core/contract';
import type { ServerProcess } from '@pungi/core/processes';
import { cut } from '../judge/shown.js';
import { finishServer } from '../spec/plan.js';
import { AnswersToServer } from './answers-to-server.js';
import { Connection } from './connection.js';
import { HttpTransport } from './http-transport.js';
import { explain, ServerFault } from './server-fault.js';
import { freePort, type StartSettings, startProcess, untilListening } from './start-server.js';
import { StdioTransport } from './stdio-transport.js';

const MODERN_VERSION = '2026-07-28';
/** The wait for a server of the older era that ignores unknown requests; it happens once. */
const MOST_PROBE_MS = 10_000;
const MOST_STDERR = 4000;

/** A server that could not be started or initialized, with its stderr. */
export class StartFault extends ServerFault {
  readonly stderr: string;

  constructor({ kind, message }: ServerFault, stderr: string) {
    super(kind, message);
    this.stderr = stderr;
  }
}

/** Starts the server if necessary, and connects to it. Throws a StartFault. */
export async function connectServer(
  written: ServerUnderTest,
  settings: StartSettings & { signal?: AbortSignal | undefined },
): Promise<Connection> {
  const isHttp = written.transport === 'http' || written.command === undefined;
  if (isHttp && written.sandbox)
    throw new StartFault(
      new ServerFault('server', 'A server in the sandbox has no network: use stdio, or remove "sandbox".'),
      '',
    );
  const deadline = new AbortController();
  const late = new ServerFault(
    'timeout',
    `The server was not ready within ${written.startup_timeout_seconds} seconds of its start.`,
  );
  const timer = setTimeout(() => deadline.abort(late), written.startup_timeout_seconds * 1000);
  const giveUp = () => deadline.abort(settings.signal?.reason);
  settings.signal?.addEventListener('abort', giveUp, { once: true });
  if (settings.signal?.aborted) giveUp();
  try {
    const connecting = isHttp ? connectHttp : connectStdio;
    return await connecting(written, settings, deadline.signal);
  } finally {
    clearTimeout(timer);
    settings.signal?.removeEventListener('abort', giveUp);
  }
}

async function connectStdio(
  written: ServerUnderTest,
  settings: StartSettings,
  signal: AbortSignal,
): Promise<Connection> {
  const server = finishServer(written, await freePort());
  const start = async () =>
    startProcess(server as ServerUnderTest & { command: string }, settings).catch((error: unknown) => {
      throw new StartFault(faultOf(error), '');
    });
  const greet = (process: ServerProcess, era: ServerUnderTest['protocol']) =>
    greeted({ server, process, transport: new StdioTransport(process), era, signal });
  const process = await start();
  try {
    return await greet(process, server.protocol);
  } catch (error) {
    // Some servers of the older era exit at any request before the handshake.
    if (server.protocol !== 'auto' || !(error instanceof EndedInProbe) || signal.aborted)
      throw startFault(error);
    return greet(await start(), 'legacy').catch((again: unknown) => {
      throw startFault(again);
    });
  }
}

async function connectHttp(
  written: ServerUnderTest,
  settings: StartSettings,
  signal: AbortSignal,
): Promise<Connection> {
  const port = await freePort();
  const server = finishServer(written, port);
  const address = server.url ?? `http://127.0.0.1:${port}/mcp`;
  if (!URL.canParse(address))
    throw new StartFault(new ServerFault('server', `The url is not valid: ${cut(address, 200)}`), '');
  const url = new URL(address);
  let process: ServerProcess | undefined;
  try {
    if (server.command !== undefined) {
      process = await startProcess(server as ServerUnderTest & { command: string }, settings);
      const { stderr } = process;
      // With HTTP, stdout is for logs, like stderr.
      process.stdout.on('data', (chunk: Buffer) => stderr.add(chunk));
      await untilListening(url, process, signal);
    }
  } catch (error) {
    process?.kill();
    throw new StartFault(faultOf(error), process?.stderr.since(0) ?? '');
  }
  const transport = new HttpTransport(url, server.headers);
  return greeted({ server, process, transport, era: server.protocol, signal }).catch((error: unknown) => {
    throw startFault(error);
  });
}

interface Greeting {
  server: ServerUnderTest;
  process: ServerProcess | undefined;
  transport: StdioTransport | HttpTransport;
  era: ServerUnderTest['protocol'];
  signal: AbortSignal;
}

class EndedInProbe extends StartFault {}

const startFault = (error: unknown): StartFault =>
  error instanceof StartFault ? error : new StartFault(faultOf(error), '');

async function greeted({ server, process, transport, era, signal }: Greeting): Promise<Connection> {
  const startupMs = server.startup_timeout_seconds * 1000;
  const mode = era === 'auto' ? 'auto' : era === 'legacy' ? 'legacy' : { pin: MODERN_VERSION };
  const client = new Client(
    { name: 'pungi-test', version: VERSION },
    {
      capabilities: { elicitation: { form: {} }, sampling: {} },
      versionNegotiation: { mode, probe: { timeoutMs: Math.min(startupMs / 2, MOST_PROBE_MS) } },
    },
  );
  const asked = new AnswersToServer();
  asked.attach(client);
  transport.traffic.onRefused = (sentence) => asked.refused(sentence);
  const given = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
  given.catch(() => {});
  try {
    const connecting = client.connect(transport, { timeout: startupMs });
    connecting.catch(() => {});
    await Promise.race([connecting, given]);
    if (era !== 'modern' && client.getProtocolEra() === 'legacy' && client.getServerCapabilities()?.logging)
      await client.setLoggingLevel('debug', { timeout: startupMs }).catch(() => {});
  } catch (error) {
    const end = await lastMoments(process, transport);
    const isInProbe =
      end !== undefined && error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
    process?.kill();
    await transport.close().catch(() => {});
    const fault = transport.fault ?? faultOf(error, startupMs);
    const odd = transport.traffic.oddities().filter((one) => !fault.message.includes(one));
    const whole = new ServerFault(fault.kind, [fault.message, ...odd.slice(0, 3)].join(' '));
    const stderr = process?.stderr.since(0) ?? '';
    throw isInProbe ? new EndedInProbe(whole, stderr) : new StartFault(whole, stderr);
  }
  return new Connection({
    client,
    asked,
    transport,
    process,
    shutdownMs: server.shutdown_timeout_seconds * 1000,
    readsInput: transport instanceof StdioTransport,
  });
}

const EXIT_LAG_MS = 300;

/** The exit of the process, if it is the cause. */
function lastMoments(process: ServerProcess | undefined, { fault }: StdioTransport | HttpTransport) {
  if (process === undefined || fault?.kind === 'protocol') return undefined;
  const lag = pause(EXIT_LAG_MS, undefined, { ref: false });
  return Promise.race([process.exited, lag]);
}

function faultOf(error: unknown, timeoutMs = 0): ServerFault {
  const found = explain(error, timeoutMs);
  if (found instanceof ServerFault) return found;
  const reason = found.kind === 'error' ? `error ${found.code}: ${found.message}` : found.kind;
  return new ServerFault('protocol', `The server refused the handshake with ${reason}`);
}

/** Formats a report: the message, and the end of the server's stderr. */
export function startProblem(error: unknown): string {
  if (!(error instanceof ServerFault)) return `The server could not be started: ${(error as Error).message}`;
  const stderr = error instanceof StartFault ? error.stderr.trimEnd() : '';
  if (stderr === '') return error.message;
  const shown = stderr.length > MOST_STDERR ? `…${stderr.slice(-MOST_STDERR)}` : stderr;
  return `${error.message}\nstderr:\n${cut(shown, MOST_STDERR + 1)}`;
}
