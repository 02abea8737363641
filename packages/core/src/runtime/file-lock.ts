import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { PungiError } from '../base/errors.js';
import { killChild, spawnPython, whyNotStarted } from '../sandbox/spawn.js';

export interface LockRequest {
  path: string;
  mode: 'shared' | 'exclusive';
  /** Whether to create a missing file. Its folder must exist. */
  create: boolean;
  /** How long to wait before the lock counts as busy; unlimited if not given. */
  waitMs?: number;
}

export interface LockOptions {
  /** Ends the wait. It does not affect a held lock. */
  signal?: AbortSignal | undefined;
  /** Called once if others hold the lock and do not release it soon. */
  onWait?: () => void;
}

export interface FileLock {
  /** Aborted when the lock is lost because the process that held it died. */
  readonly lost: AbortSignal;
  /** Resolves when the lock is released. May be called several times. */
  release(): Promise<void>;
}

type Answer =
  | { held: true }
  | { waiting: true }
  | { busy: true }
  | { gone: true }
  | { failed: string; isUnsupported: boolean };

const SOON_MS = 100;
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };

/**
 * Locks a file with a separate process (packages/core/python/pungi/tools/lock_holder.py), so that the kernel releases the
 * lock when this process ends, even if killed. `gone`: the file does not exist, or was removed during the wait.
 */
export async function lockFile(
  python: string,
  request: LockRequest,
  { signal, onWait }: LockOptions = {},
): Promise<FileLock | 'busy' | 'gone'> {
  signal?.throwIfAborted();
  const child = spawnPython(python, ['lock-holder'], { stdio: ['pipe', 'pipe', 'pipe'], env: ENVIRONMENT });
  const ended = endOf(child, python);
  const abort = () => killChild(child);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const answer = await ask(child, ended, request, onWait);
    if ('held' in answer) return new HeldLock(child, ended);
    await ended;
    if ('busy' in answer) return 'busy';
    if ('gone' in answer) return 'gone';
    throw cannotLock(request, answer);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

class HeldLock implements FileLock {
  readonly #lost = new AbortController();
  #isReleased = false;

  constructor(
    private readonly child: ChildProcess,
    private readonly ended: Promise<string>,
  ) {
    void ended.then((reason) => {
      if (!this.#isReleased)
        this.#lost.abort(new Error(`the lock is lost with the process that held it: ${reason}`));
    });
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    this.child.stdin?.end();
    await this.ended;
  }
}

/** Resolves to why the process ended or did not start. */
function endOf(child: ChildProcess, python: string): Promise<string> {
  const stderr = child.stderr ? text(child.stderr).catch(() => '') : Promise.resolve('');
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(whyNotStarted(python, error)));
    child.on('exit', async (status, signal) => {
      const lastLine = (await stderr).trim().split('\n').at(-1);
      resolve(`it ended with ${signal ?? `status ${status}`}${lastLine ? ` (${lastLine})` : ''}`);
    });
  });
}

/** Resolves to the last answer; without one, the process has failed. */
function ask(
  child: ChildProcess,
  ended: Promise<string>,
  { path, mode, create, waitMs }: LockRequest,
  onWait: LockOptions['onWait'],
): Promise<Exclude<Answer, { waiting: true }>> {
  child.stdin?.on('error', () => {}); // the end of the process is handled
  child.stdin?.write(
    `${JSON.stringify({ path, exclusive: mode === 'exclusive', create, waitMs: waitMs ?? null })}\n`,
  );
  let timer: NodeJS.Timeout | undefined;
  return new Promise<Exclude<Answer, { waiting: true }>>((resolve) => {
    if (child.stdout)
      createInterface({ input: child.stdout }).on('line', (line) => {
        const answer = JSON.parse(line) as Answer;
        if (!('waiting' in answer)) resolve(answer);
        else if (onWait) timer = setTimeout(onWait, SOON_MS);
      });
    void ended.then((reason) => resolve({ failed: reason, isUnsupported: false }));
  }).finally(() => clearTimeout(timer));
}

const cannotLock = ({ path }: LockRequest, { failed, isUnsupported }: Extract<Answer, { failed: string }>) =>
  new PungiError(
    isUnsupported ? 'CONFIGURATION_ERROR' : 'INTERNAL_ERROR',
    `Could not acquire lock ${path}: ${failed}.`,
    { path },
  );
