import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { findProgram } from './find-program.js';
import { LastWords } from './last-words.js';
import { endTree, memoryOfTree } from './process-tree.js';
import { type JailedServer, spawnJailed } from './server-jail.js';
import { END_ALL, limited, marked, newMark, type ServerMark } from './server-mark.js';

/** How a server under test is started. */
export interface ServerCommand {
  command: string;
  args: readonly string[];
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  folder: string;
  /** In the kernel sandbox, without network. */
  jail?: JailedServer | undefined;
}

export interface ServerEnd {
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

/** A name is looked for in every folder of PATH, and one of them that may not be entered is enough for EACCES. */
function reasonOf({ code = '', message }: NodeJS.ErrnoException, { command }: ServerCommand): string {
  if (code === 'EACCES' && !command.includes('/')) return 'there is no such program that may be executed';
  return REASONS[code] ?? message;
}

/** How long the end of its input alone may take to be noticed. */
const QUIET_MS = 2000;
/** Pipes that a process outside of the group holds are not waited for any longer. */
const LAST_WORDS_MS = 500;

const running = new Set<ServerProcess>();
process.on('exit', () => {
  for (const server of running) server.kill();
});

/** A server under test, with everything that it starts. Nothing of it outlives `stop`, nor this process. */
export class ServerProcess {
  readonly stderr = new LastWords();
  /** The process itself has ended; what it wrote may still be on its way. */
  readonly exited: Promise<ServerEnd>;
  readonly #child: ChildProcess;
  readonly #mark: ServerMark;
  readonly #release: () => void;
  #end: ServerEnd | undefined;

  /** Throws an Error with a reason for people where there is no process to be had. */
  static async start(command: ServerCommand): Promise<ServerProcess> {
    const mark = newMark();
    const env = marked(command.env, mark);
    try {
      if (command.jail !== undefined) {
        const { child, refusal } = spawnJailed({ ...command, env }, command.jail);
        await once(child, 'spawn');
        return new ServerProcess(child, mark, refusal);
      }
      // One that is not there is not found by another program, or it would tell of it in its own words.
      const program = findProgram(command.command, command.folder, env['PATH'] ?? '');
      const started = program === undefined ? command : limited(program, command.args, mark);
      const child = spawn(started.command, started.args, {
        cwd: command.folder,
        env,
        stdio: ['pipe', 'pipe', 'pipe'],
        // A group of its own: Ctrl-C in a terminal is for us, and all of it can be ended at once.
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
        // What it left behind ends with it. Its number is nobody else's while there is any of its group.
        this.kill();
        running.delete(this);
        this.#release();
        const impatience = setTimeout(() => this.#closePipes(), LAST_WORDS_MS);
        void Promise.all([refusal, once(child, 'close')]).then(([reason]) => {
          clearTimeout(impatience);
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
   * Its input ends, which is what servers over stdio wait for; then it is asked to end; then it is ended. Says how far it had
   * to go.
   */
  async stop(patienceMs: number, { readsInput = true } = {}): Promise<'by itself' | 'when asked' | 'killed'> {
    this.stdin.end();
    const quietMs = readsInput ? Math.min(patienceMs / 2, QUIET_MS) : 0;
    if (readsInput && (await this.#endsWithin(quietMs))) return 'by itself';
    this.#signal('SIGTERM');
    if (await this.#endsWithin(patienceMs - quietMs)) return 'when asked';
    this.kill();
    await this.exited;
    return 'killed';
  }

  /** At once, with everything that it started. */
  kill(): void {
    endTree(this.pid, this.#mark);
  }

  async #endsWithin(milliseconds: number): Promise<boolean> {
    const patience = new AbortController();
    const waited = pause(milliseconds, false, { signal: patience.signal }).catch(() => false);
    const ended = await Promise.race([this.exited.then(() => true), waited]);
    patience.abort();
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

/** A process that ends all of it when we are gone without having said so, even by SIGKILL. Returns what lets it go. */
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
