import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { type Hold, KeeperProcess, type LockMode, type LockRequest } from './keeper-process.js';

export type { Hold, LockMode } from './keeper-process.js';

export interface AcquireOptions {
  /** Ends the waiting. A lock that is held already is not touched by it. */
  signal?: AbortSignal;
  /** False: fails with ENVIRONMENT_IN_USE rather than wait for longer than a moment. */
  wait?: boolean;
  /** Called once if others have the lock, and do not give it back soon. */
  onWait?: () => void;
}

const SOON_MS = 100;

/**
 * Locks across processes, named by paths: many share one or one has it, in the order of asking. A process of Pungi's own
 * holds them (python/pungi/lock_keeper.py), so that they end with Pungi, also when it is killed.
 */
export class LockKeeper {
  #python: string;
  #logger: Logger;
  #process: KeeperProcess | undefined;
  #isClosed = false;

  constructor(python: string, logger: Logger) {
    this.#python = python;
    this.#logger = logger;
  }

  /** Of the process that holds the locks, once there is one. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /**
   * Holds the lock until it is released. The folder of the path must exist; two files are made in it. Who holds a lock
   * must not wait for the same one again: it would stand behind someone who waits for the release of the first.
   */
  async acquire(path: string, mode: LockMode, options: AcquireOptions = {}): Promise<Hold> {
    const { signal, wait = true, onWait } = options;
    signal?.throwIfAborted();
    let timer: NodeJS.Timeout | undefined;
    const onQueued = () => {
      if (onWait) timer ??= setTimeout(onWait, SOON_MS);
    };
    try {
      return await this.#acquire({ path, mode, wait, onQueued }, signal);
    } finally {
      clearTimeout(timer);
    }
  }

  async #acquire(request: LockRequest, signal?: AbortSignal): Promise<Hold> {
    const reasons: string[] = [];
    // Who only waited has lost nothing with the keeper but its place in the line.
    while (reasons.length < 2) {
      if (this.#isClosed) throw new PungiError('CANCELLED', 'Pungi is shutting down.');
      signal?.throwIfAborted();
      const answer = await this.#living().ask(request, signal);
      if (answer.kind === 'held') return answer.hold;
      if (answer.kind === 'busy') throw inUse(request);
      if (answer.kind === 'failed') throw cannotLock(request, answer.reason);
      reasons.push(answer.reason);
    }
    throw cannotLock(request, `the process that holds locks does not stay alive (${reasons.join('; ')})`);
  }

  /** Lets go of all locks, and of those who wait for one with CANCELLED. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#process?.end();
  }

  #living(): KeeperProcess {
    if (!this.#process?.isAlive) this.#process = new KeeperProcess(this.#python, this.#logger);
    return this.#process;
  }
}

function inUse({ path, mode }: LockRequest): PungiError {
  const who = mode === 'shared' ? 'being changed' : 'in use';
  return new PungiError(
    'ENVIRONMENT_IN_USE',
    `It is ${who} at the moment; try again later, or wait for it.`,
    {
      lock: path,
    },
  );
}

function cannotLock({ path }: LockRequest, reason: string): PungiError {
  return new PungiError('INTERNAL_ERROR', `Could not acquire the lock ${path}: ${reason}.`, {
    lock: path,
    reason,
  });
}
