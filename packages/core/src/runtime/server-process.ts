import { type ChildProcess, spawn } from 'node:child_process';

import { once } from 'node:events';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as pause } from 'node:timers/promises';
import { SANDBOX_UID } from '../sandbox/sandbox-uid.js';
import { spawnPython } from '../sandbox/spawn.js';
import { END_ALL, endTree, limited, marked, memoryOfTree, newMark, type ServerMark } from './process-tree.js';

/** The command of a server under test. */
interface ServerCommand {
  command: string;
  args: readonly string[];
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  folder: string;
  /** Runs it in the kernel sandbox, without network. */
  jail?: JailedServer | undefined;
}

interface ServerEnd {
  status: number | null;
  signal: NodeJS.Signals | null;
  /** Why the sandbox was not entered. */
  refusal?: string;
}

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such program',
  EACCES: 'it may not be executed',
  EMFILE: 'too many files are open',
  EAGAIN: 'there are too many processes',
  ENOMEM: 'there is no memory left',
};

/**
 * Explains a failed start. A name is searched in every folder of PATH, and an inaccessible one of them causes EACCES.
 */
function reasonOf({ code = '', message }: NodeJS.ErrnoException, { command }: ServerCommand): string {
  if (code === 'EACCES' && !command.includes('/')) return 'there is no such program that may be executed';
  return REASONS[code] ?? message;
}

/** How long a server may take to notice the end of its input. */
const QUIET_MS = 2000;
/** How long to wait for pipes that a process outside of the group holds. */
const OUTPUT_GRACE_MS = 500;

const running = new Set<ServerProcess>();
process.on('exit', () => {
  for (const server of running) server.kill();
});

/** A server under test with everything that it starts. Nothing of it outlives `stop`, nor this process. */
export class ServerProcess {
  readonly stderr = new TextTail();
  /** Resolves when the process has ended; its output may still be arriving. */
  readonly exited: Promise<ServerEnd>;
  readonly #child: ChildProcess;
  readonly #mark: ServerMark;
  readonly #release: () => void;
  #end: ServerEnd | undefined;

  /** Throws an Error with a readable reason if the process cannot be started. */
  static async start(command: ServerCommand): Promise<ServerProcess> {
    const mark = newMark();
    const env = marked(command.env, mark);
    try {
      if (command.jail !== undefined) {
        const { child, refusal } = spawnJailed({ ...command, env }, command.jail);
        await once(child, 'spawn');
        return new ServerProcess(child, mark, refusal);
      }
      // Resolved here, because the wrapper would report a missing program with its own message.
      const program = findProgram(command.command, command.folder, env['PATH'] ?? '');
      const started = program === undefined ? command : limited(program, command.args, mark);
      const child = spawn(started.command, started.args, {
        cwd: command.folder,
        env,
        stdio: ['pipe', 'pipe', 'pipe'],
        // A new process group: Ctrl-C in a terminal is for us, and the whole group can be killed at once.
        detached: true,
        windowsHide: true,
      });
      await once(child, 'spawn');
      return new ServerProcess(child, mark, Promise.resolve(undefined));
    } catch (error) {
      throw new Error(reasonOf(error as NodeJS.ErrnoException, command), { cause: error });
    }
  }

  private constructor(child: ChildProcess, mark: ServerMark, refusal: Promise<string | undefined>) {
    this.#child = child;
    this.#mark = mark;
    this.#release = watch(child.pid!, mark);
    running.add(this);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
    child.stderr!.on('data', (chunk: Buffer) => this.stderr.add(chunk));
    this.exited = new Promise((resolve) => {
      child.once('exit', (status, signal) => {
        // Ends the processes that it left behind. Its number is not reused while its group has any process.
        this.kill();
        running.delete(this);
        this.#release();
        const timer = setTimeout(() => this.#closePipes(), OUTPUT_GRACE_MS);
        void Promise.all([refusal, once(child, 'close')]).then(([reason]) => {
          clearTimeout(timer);
          this.#end = { status, signal, ...(reason === undefined ? {} : { refusal: reason }) };
          resolve(this.#end);
        });
      });
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get stdin(): Writable {
    return this.#child.stdin!;
  }

  get stdout(): Readable {
    return this.#child.stdout!;
  }

  /** Undefined while it runs. */
  get end(): ServerEnd | undefined {
    return this.#end;
  }

  memoryMb(): number | undefined {
    return this.#end === undefined ? memoryOfTree(this.pid) : undefined;
  }

  /**
   * Closes its input, which servers over stdio wait for; then asks it to end; then kills it. Returns which step was
   * needed.
   */
  async stop(timeoutMs: number, { readsInput = true } = {}): Promise<'by itself' | 'when asked' | 'killed'> {
    this.stdin.end();
    const quietMs = readsInput ? Math.min(timeoutMs / 2, QUIET_MS) : 0;
    if (readsInput && (await this.#endsWithin(quietMs))) return 'by itself';
    this.#signal('SIGTERM');
    if (await this.#endsWithin(timeoutMs - quietMs)) return 'when asked';
    this.kill();
    await this.exited;
    return 'killed';
  }

  /** Kills it at once, with everything that it started. */
  kill(): void {
    endTree(this.pid, this.#mark);
  }

  async #endsWithin(milliseconds: number): Promise<boolean> {
    const timeout = new AbortController();
    const waited = pause(milliseconds, false, { signal: timeout.signal }).catch(() => false);
    const ended = await Promise.race([this.exited.then(() => true), waited]);
    timeout.abort();
    return ended;
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.pid, signal);
    } catch {
      this.#child.kill(signal);
    }
  }

  #closePipes(): void {
    for (const stream of this.#child.stdio) stream?.destroy();
  }
}

/**
 * Starts a process that kills the server when this process ends, even by SIGKILL. Returns a function that ends it.
 */
function watch(leader: number, { locks }: ServerMark): () => void {
  if (process.platform === 'win32') return () => {};
  const script = `read -r _ || {\n${END_ALL}\n}`;
  const watcher = spawn('/bin/sh', ['-c', script, 'watch', String(leader), String(locks)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
    cwd: '/',
    detached: true,
  });
  watcher.on('error', () => {});
  watcher.stdin.on('error', () => {});
  watcher.unref();
  (watcher.stdin as unknown as { unref?: () => void }).unref?.();
  return () => watcher.stdin.end('\n');
}

const MOST_CHARACTERS = 64 * 1024;

/** The tail of a text stream of any length. A mark taken at some time returns what came after it. */
class TextTail {
  readonly #decoder = new StringDecoder('utf8');
  #kept = '';
  /** The number of characters in total. */
  #total = 0;

  add(chunk: Buffer): void {
    const text = this.#decoder.write(chunk);
    this.#total += text.length;
    this.#kept += text;
    // Not at every chunk, which would copy a flood of small ones again and again.
    if (this.#kept.length > 2 * MOST_CHARACTERS) this.#kept = this.#kept.slice(-MOST_CHARACTERS);
  }

  mark(): number {
    return this.#total;
  }

  since(mark: number): string {
    const wanted = this.#total - mark;
    const kept = this.#kept.slice(-MOST_CHARACTERS);
    if (wanted <= 0) return '';
    if (wanted <= kept.length) return kept.slice(-wanted);
    return `… (${wanted - kept.length} characters before this)\n${kept}`;
  }
}

/** Resolves a command to a file, as the system does; undefined if there is no executable one. */
export function findProgram(command: string, folder: string, path: string): string | undefined {
  const candidates = command.includes('/')
    ? [resolve(folder, command)]
    : path
        .split(delimiter)
        .filter(isAbsolute)
        .map((one) => join(one, command));
  return candidates.find((candidate) => {
    try {
      accessSync(candidate, constants.X_OK);
      return statSync(candidate).isFile();
    } catch {
      return false;
    }
  });
}

/** What a sandboxed server needs from the host. It writes only to its own /tmp, and has no network. */
interface JailedServer {
  /** The interpreter that runs packages/core/python/pungi/tools/tool.py. */
  python: string;
  readable: readonly string[];
}

interface Program {
  /** Absolute path. */
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  folder: string;
}

/** `refusal` resolves when the process has ended, to undefined if the server was started. */
function spawnJailed(
  { command, args, env, folder }: Program,
  { python, readable }: JailedServer,
): { child: ChildProcess; refusal: Promise<string | undefined> } {
  const child = spawnPython(python, ['tool'], { stdio: ['pipe', 'pipe', 'pipe', 'pipe'], env: {} });
  const channel = child.stdio?.[3] as (Readable & Writable) | undefined;
  if (channel === undefined) return { child, refusal: Promise.resolve(undefined) };
  channel.on('error', () => {});
  channel.end(
    JSON.stringify({
      server: process.pid,
      command,
      args,
      env: { ...env, HOME: '/tmp', TMPDIR: '/tmp' },
      folder,
      jail: { readable: [folder, ...readable], writable: [], uid: SANDBOX_UID },
    }),
  );
  const refusal = text(channel).then(
    (output) =>
      output === '' ? undefined : (JSON.parse(output.split('\n')[0]!) as { failed: string }).failed,
    () => undefined,
  );
  return { child, refusal };
}
