import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { PungiError } from '../base/errors.js';
import { killChild, spawnPython, whyNotStarted } from '../sandbox/spawn.js';

export interface LockRequest {
  path: string;
  mode: 'shared' | 'exclusive';
  /** Whether to make a file that is not there. Its folder must exist. */
  create: boolean;
  /** How long to try before the lock counts as busy; without end if not given. */
  patienceMs?: number;
}

export interface LockOptions {
  /** Ends the waiting. A lock that is held already is not touched by it. */
  signal?: AbortSignal | undefined;
  /** Called once if others hold the lock, and do not release it soon. */
  onWait?: () => void;
}

export interface FileLock {
  /** Aborted when the lock is gone without having been released, because the process that held it died. */
  readonly lost: AbortSignal;
  /** Resolves when the lock is free. More than once is fine. */
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
 * Locks a file for as long as a process of its own lives (packages/core/python/pungi/lock_holder.py), so that the kernel releases the lock
 * when this process ends, also when it is killed. `gone`: the file is not there, or was removed while it was waited for.
 */
export async function lockFile(
  python: string,
  request: LockRequest,
  { signal, onWait }: LockOptions = {},
): Promise<FileLock | 'busy' | 'gone'> {
  signal?.throwIfAborted();
  const child = spawnPython(python, 'lock-holder', { stdio: ['pipe', 'pipe', 'pipe'], env: ENVIRONMENT });
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

/** Resolves to why the process ended, also where it never started. */
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

/** The last answer. Where there is none, the process has failed. */
function ask(
  child: ChildProcess,
  ended: Promise<string>,
  { path, mode, create, patienceMs }: LockRequest,
  onWait: LockOptions['onWait'],
): Promise<Exclude<Answer, { waiting: true }>> {
  child.stdin?.on('error', () => {}); // its end is noticed
  child.stdin?.write(
    `${JSON.stringify({ path, exclusive: mode === 'exclusive', create, patienceMs: patienceMs ?? null })}\n`,
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
