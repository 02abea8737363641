import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { StringDecoder } from 'node:string_decoder';
import { PungiError } from '../base/errors.js';
import { SANDBOX_UID } from './sandbox-uid.js';
import { spawnPython, whyNotStarted } from './spawn.js';

export interface ToolCommand {
  /** The interpreter that runs the wrapper, packages/core/python/pungi/tools/tool.py. */
  python: string;
  /** Absolute path of the program. */
  command: string;
  /** A module of packages/core/python, which the wrapper runs itself instead of a program: another interpreter would take time. */
  role?: string;
  args: string[];
  /** The whole environment of the program. */
  env: Record<string, string>;
  stdin?: string;
  /** Only for builds of source distributions. */
  jail?: BuildJail;
}

/** What a build sees besides the system's folders, the interpreter and the command itself. */
interface BuildJail {
  readable: string[];
  /**
   * Folders lent to the sandbox's user and taken back: their files stop being hard links, new links out of them are
   * removed.
   */
  writable: string[];
  /** The socket of a proxy, which the forwarder's port on the jail's loopback leads to: the only network. */
  index?: string;
}

export interface ToolEnd {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface ToolOptions {
  signal?: AbortSignal;
  timeoutMs: number;
  /** Called with every line of stderr as it arrives. */
  onLine?: (line: string) => void;
}

/** A failure before the tool ran, or after it. */
interface Failure {
  failed: string;
  at: 'start' | 'jail' | 'return';
}

/** How long output may arrive after the end. Only a process that left the group can hold the pipes longer. */
const OUTPUT_GRACE_MS = 1000;

/**
 * Runs a tool to its end. If it is aborted or times out, its whole process group is killed and this throws the
 * signal's reason, or EXECUTION_TIMEOUT.
 */
export async function runTool(command: ToolCommand, options: ToolOptions): Promise<ToolEnd> {
  options.signal?.throwIfAborted();
  const child = await startWrapper(command);
  let stopped: { why: unknown } | undefined;
  const stop = (why: unknown) => {
    stopped ??= { why };
    killGroup(child);
  };
  const abort = () => stop(options.signal?.reason);
  options.signal?.addEventListener('abort', abort, { once: true });
  // It may have been aborted while the wrapper started, before anything listened.
  if (options.signal?.aborted) abort();
  const timer = setTimeout(() => stop(timedOut(command, options.timeoutMs)), options.timeoutMs);
  try {
    const end = await followToEnd(child, command, new ToolOutput(command.command, stop, options.onLine));
    if (stopped) throw stopped.why;
    return end;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', abort);
  }
}

async function startWrapper(command: ToolCommand): Promise<ChildProcess> {
  const child = spawnPython(command.python, ['tool'], {
    stdio: [command.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe'],
    env: {},
  });
  try {
    await once(child, 'spawn');
  } catch (error) {
    throw notStarted(command.python, error as NodeJS.ErrnoException);
  }
  return child;
}

function notStarted(python: string, error: NodeJS.ErrnoException): PungiError {
  const isThere = error.code !== 'ENOENT' && error.code !== 'EACCES';
  return new PungiError(
    isThere ? 'TOOL_UNAVAILABLE' : 'INTERPRETER_NOT_FOUND',
    `Pungi's tools cannot be run: ${whyNotStarted(python, error)}.`,
    { python },
    error,
  );
}

async function followToEnd(child: ChildProcess, command: ToolCommand, output: ToolOutput): Promise<ToolEnd> {
  const ended = new Promise<Pick<ToolEnd, 'status' | 'signal'>>((resolve) => {
    child.once('exit', (status, signal) => {
      killGroup(child);
      resolve({ status, signal });
    });
  });
  const closed = once(child, 'close');
  output.read('stdout', child.stdout!);
  output.read('stderr', child.stderr!);
  const failure = giveOrder(child, command);
  const end = await ended;
  const timer = setTimeout(() => closePipes(child), OUTPUT_GRACE_MS);
  await closed;
  clearTimeout(timer);
  const failed = await failure;
  if (failed) throw explain(failed, command);
  return { ...end, ...output.finish() };
}

/** Sends the command to the wrapper; resolves to a failure on our side, or to undefined. */
async function giveOrder(child: ChildProcess, command: ToolCommand): Promise<Failure | undefined> {
  const { python: _, stdin, jail, ...program } = command;
  child.stdin?.on('error', () => {}).end(stdin);
  const channel = child.stdio[3] as Readable & Writable;
  channel.on('error', () => {});
  const order = { server: process.pid, ...program, ...(jail && { jail: { ...jail, uid: SANDBOX_UID } }) };
  channel.end(JSON.stringify(order));
  const output = await text(channel).catch(() => '');
  return output === '' ? undefined : (JSON.parse(output.split('\n')[0]!) as Failure);
}

function closePipes(child: ChildProcess): void {
  for (const stream of child.stdio) stream?.destroy();
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No process of the group is left.
  }
}

function timedOut(command: ToolCommand, timeoutMs: number): PungiError {
  return new PungiError(
    'EXECUTION_TIMEOUT',
    `${command.command} did not end within ${timeoutMs} ms and was stopped.`,
    { command: command.command, timeoutMs },
  );
}

function explain({ failed: reason, at }: Failure, { command }: ToolCommand): PungiError {
  const details = { command, reason };
  if (at === 'start')
    return new PungiError('TOOL_UNAVAILABLE', `${command} cannot be started: ${reason}.`, details);
  if (at === 'jail')
    return new PungiError(
      'TOOL_UNAVAILABLE',
      `Source distributions are built in a sandbox of kernel namespaces, which cannot be entered here: ${reason}. Packages that have wheels can be installed without it.`,
      details,
    );
  return new PungiError(
    'PACKAGE_INSTALLATION_ERROR',
    `A build left files that cannot be taken over: ${reason}.`,
    details,
  );
}

/** No tool prints this much; more would fill the server's memory. */
const MOST_TOOL_OUTPUT_BYTES = 16 * 1024 * 1024;

type Channel = 'stdout' | 'stderr';

/** The output of a tool, up to a limit at which it is stopped. */
class ToolOutput {
  readonly #tool: string;
  readonly #stop: (why: PungiError) => void;
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #chunks: Record<Channel, Buffer[]> = { stdout: [], stderr: [] };
  readonly #decoder = new StringDecoder('utf8');
  #bytes = 0;
  #begun = '';

  constructor(tool: string, stop: (why: PungiError) => void, onLine?: (line: string) => void) {
    this.#tool = basename(tool);
    this.#stop = stop;
    this.#onLine = onLine;
  }

  read(channel: Channel, stream: Readable): void {
    stream.on('data', (chunk: Buffer) => this.#take(channel, chunk));
    stream.on('error', () => {});
  }

  finish(): Record<Channel, string> {
    if (this.#begun !== '') this.#onLine?.(this.#begun);
    this.#begun = '';
    const join = (channel: Channel) => Buffer.concat(this.#chunks[channel]).toString('utf8');
    return { stdout: join('stdout'), stderr: join('stderr') };
  }

  #take(channel: Channel, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MOST_TOOL_OUTPUT_BYTES) {
      this.#stop(this.#tooMuch());
      return;
    }
    this.#chunks[channel].push(chunk);
    if (channel === 'stderr' && this.#onLine) this.#emitLines(chunk, this.#onLine);
  }

  #emitLines(chunk: Buffer, onLine: (line: string) => void): void {
    const lines = (this.#begun + this.#decoder.write(chunk)).split('\n');
    this.#begun = lines.pop()!;
    for (const line of lines) onLine(line);
  }

  #tooMuch(): PungiError {
    const megabytes = MOST_TOOL_OUTPUT_BYTES / 1024 ** 2;
    return new PungiError(
      'OUTPUT_LIMIT_EXCEEDED',
      `${this.#tool} printed more than ${megabytes} MB and was stopped.`,
      { tool: this.#tool, limitBytes: MOST_TOOL_OUTPUT_BYTES },
    );
  }
}
