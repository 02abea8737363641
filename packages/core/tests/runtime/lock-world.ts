import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SpeakingProcess } from '../../../../tests/support/speaking-process.js';
import { until } from '../../../../tests/support/until.js';
import { type FileLock, type LockOptions, type LockRequest, lockFile } from '../../src/runtime/file-lock.js';
import { findInterpreter } from '../../src/sandbox/interpreter.js';

export const { path: python } = await findInterpreter();

/** A folder of locks and the processes that use them, all of which end with it. */
export class LockWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'pungi-locks-'));
  readonly lock = join(this.folder, 'lock');
  #locks: FileLock[] = [];
  #children: ChildProcess[] = [];

  async acquire(request: Partial<LockRequest> = {}, options: LockOptions = {}): Promise<FileLock> {
    const lock = await this.try(request, options);
    if (typeof lock === 'string') throw new Error(`the lock is ${lock}`);
    return lock;
  }

  async try(
    request: Partial<LockRequest> = {},
    options: LockOptions = {},
  ): Promise<FileLock | 'busy' | 'gone'> {
    const whole = { path: this.lock, mode: 'exclusive', create: true, ...request } as const;
    const lock = await lockFile(python, whole, options);
    if (typeof lock !== 'string') this.#locks.push(lock);
    return lock;
  }

  /** Asks for what others hold, and returns when that is reported. */
  async wait(request: Partial<LockRequest> = {}, signal?: AbortSignal) {
    let reports = 0;
    const state: { lock?: FileLock; error?: unknown; reports: () => number } = { reports: () => reports };
    const onWait = () => {
      reports += 1;
    };
    this.acquire(request, { onWait, signal }).then(
      (lock) => {
        state.lock = lock;
      },
      (error) => {
        state.error = error;
      },
    );
    await until(() => reports > 0, 'the waiting is reported');
    return state;
  }

  /** A fixture as a Node process. */
  start(fixture: string, settings: Record<string, unknown>): StartedUser {
    const script = fileURLToPath(new URL(`./fixtures/${fixture}.mjs`, import.meta.url));
    const options = JSON.stringify({ python, path: this.lock, ...settings });
    const child = spawn(process.execPath, [script, options], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#children.push(child);
    return new StartedUser(child);
  }

  async end(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    await Promise.all(this.#locks.map((lock) => lock.release()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export class StartedUser extends SpeakingProcess {
  says(text: string): Promise<boolean> {
    return until(() => this.said.includes(text), `the process says ${text}`);
  }
}
