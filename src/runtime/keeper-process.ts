import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Logger } from '../base/logger.js';
import { killChild, whyNotStarted } from '../sandbox/spawn.js';
import { spawnLockKeeper } from '../sandbox/spawn-lock-keeper.js';

export type LockMode = 'shared' | 'exclusive';

export interface Hold {
  /** Gives the lock back. More than once is fine. */
  release(): void;
  /** Aborted when the lock is gone without having been released, because the process that held it died. */
  readonly lost: AbortSignal;
}

export interface LockRequest {
  path: string;
  mode: LockMode;
  wait: boolean;
  /** Called where the lock cannot be had at once. */
  onQueued?: () => void;
}

export type LockAnswer =
  | { kind: 'held'; hold: Hold }
  | { kind: 'busy' }
  | { kind: 'failed'; reason: string }
  | { kind: 'gone'; reason: string };

/** One lock keeper from its start to its death, with what it holds and what is asked of it. */
export class KeeperProcess {
  readonly exited: Promise<void>;
  #child: ChildProcess;
  #logger: Logger;
  #serial = 0;
  #asked = new Map<number, { resolve: (answer: LockAnswer) => void; onQueued: (() => void) | undefined }>();
  #holds = new Map<number, AbortController>();
  #heard = '';
  #isAlive = true;
  #isEnding = false;

  constructor(python: string, logger: Logger) {
    this.#logger = logger;
    this.#child = spawnLockKeeper(python);
    this.exited = new Promise((resolve) => {
      const end = (reason: string) => {
        this.#end(reason);
        resolve();
      };
      this.#child.on('error', (error) => end(whyNotStarted(python, error)));
      this.#child.on('exit', (status, signal) => end(`it ended with ${signal ?? `status ${status}`}`));
    });
    this.#listen();
  }

  /** Where it could not be started there are no streams, and 'error' tells so. */
  #listen(): void {
    const { stdin, stdout, stderr } = this.#child;
    stdout?.setEncoding('utf8').on('data', (chunk: string) => this.#hear(chunk));
    if (stderr)
      createInterface({ input: stderr }).on('line', (line) => this.#logger.error('Lock keeper', { line }));
    // Its death is told by 'exit'; a stream that breaks by it is nothing more.
    for (const stream of [stdin, stdout, stderr])
      (stream as Socket | null | undefined)?.on('error', () => {}).unref();
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Rejects only when aborted, with the signal's reason. */
  ask({ path, mode, wait, onQueued }: LockRequest, signal?: AbortSignal): Promise<LockAnswer> {
    const id = ++this.#serial;
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#forget(id);
        this.#say({ cancel: id });
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
      if (this.#asked.size === 0) this.#stayAwake(true);
      const answered = (answer: LockAnswer) => {
        signal?.removeEventListener('abort', abort);
        resolve(answer);
      };
      this.#asked.set(id, { resolve: answered, onQueued });
      this.#say({ id, lock: path, mode, wait });
    });
  }

  /** Whatever it holds is let go of. */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.#child.ref();
    this.#child.stdin?.end();
    killChild(this.#child);
    await this.exited;
  }

  #say(order: Record<string, unknown>): void {
    if (this.#isAlive) this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  #hear(chunk: string): void {
    const lines = (this.#heard + chunk).split('\n');
    this.#heard = lines.pop()!;
    for (const line of lines) {
      const said = JSON.parse(line) as { id: number; waiting?: true; held?: true; failed?: string };
      if (said.waiting) {
        this.#asked.get(said.id)?.onQueued?.();
        continue;
      }
      const resolve = this.#forget(said.id);
      // Aborted while the answer was on its way: the keeper gives it back by itself when it reads of it.
      if (resolve === undefined) continue;
      if (said.held) resolve({ kind: 'held', hold: this.#hold(said.id) });
      else if (said.failed !== undefined) resolve({ kind: 'failed', reason: said.failed });
      else resolve({ kind: 'busy' });
    }
  }

  #hold(id: number): Hold {
    const lost = new AbortController();
    this.#holds.set(id, lost);
    return {
      lost: lost.signal,
      release: () => {
        if (this.#holds.delete(id)) this.#say({ unlock: id });
      },
    };
  }

  #forget(id: number): ((answer: LockAnswer) => void) | undefined {
    const asked = this.#asked.get(id);
    if (this.#asked.delete(id) && this.#asked.size === 0) this.#stayAwake(false);
    return asked?.resolve;
  }

  /** Only an answer that is waited for keeps Node from ending. */
  #stayAwake(isNeeded: boolean): void {
    for (const part of [this.#child, this.#child.stdout as Socket | null])
      isNeeded ? part?.ref() : part?.unref();
  }

  #end(reason: string): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    const [asked, holds] = [[...this.#asked.values()], [...this.#holds.values()]];
    this.#asked.clear();
    this.#holds.clear();
    if (!this.#isEnding)
      this.#logger.error('The lock keeper died', { reason, held: holds.length, asked: asked.length });
    for (const lost of holds)
      lost.abort(new Error(`the lock is lost with the process that held it: ${reason}`));
    for (const { resolve } of asked) resolve({ kind: 'gone', reason });
  }
}
