import { PungiError } from '../../base/errors.js';
import type { StepOptions } from '../../contract/environment.js';
import { type FileLock, type LockOptions, type LockRequest, lockFile } from '../../runtime/file-lock.js';
import type { Layout } from './layout.js';

export interface ExclusiveOptions extends StepOptions {
  /** Whether to wait for runs and changes in progress, or to refuse with ENVIRONMENT_IN_USE. */
  wait?: boolean;
}

/** Callers that do not wait try for this long: an environment counts as in use for a moment after its last run. */
export const SHORT_WAIT_MS = 500;

/**
 * The locks of environments, across processes. Changes of one environment exclude each other; runs wait for none of
 * them.
 */
export class Locks {
  constructor(
    private readonly layout: Layout,
    private readonly python: () => Promise<string>,
    /** Aborted at shutdown. */
    private readonly closing: AbortSignal,
  ) {}

  /** Changes an environment under its lock. The signal is also aborted if the lock is lost. */
  async changing<T>(
    name: string,
    { wait = true, signal, onStep }: ExclusiveOptions,
    change: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const onWait = () => onStep?.(`Waiting for another change of the environment "${name}" to end.`);
    const lock = await this.#exclusive(this.layout.changeLock(name), wait, { signal, onWait });
    if (typeof lock === 'string') throw inUse(name, BEING_CHANGED);
    return during(lock, signal, change);
  }

  /** Lets one process at a time add an environment. */
  async adding<T>(add: () => Promise<T>): Promise<T> {
    const lock = await this.#lock({ path: this.layout.quotaLock, mode: 'exclusive', create: true }, {});
    return during(lock as FileLock, undefined, add);
  }

  /** Resolves at a moment when no run uses the environment. */
  async noRuns(name: string, { wait = true, signal, onStep }: ExclusiveOptions): Promise<void> {
    const onWait = () => onStep?.(`Waiting until the environment "${name}" is not in use.`);
    const lock = await this.#exclusive(this.layout.runsLock(name), wait, { signal, onWait });
    if (typeof lock === 'string') throw inUse(name, HAS_RUNS);
    await lock.release();
  }

  #exclusive(path: string, wait: boolean, options: LockOptions) {
    return this.#lock({ path, mode: 'exclusive', create: true, ...waitFor(wait) }, options);
  }

  /** Keeps a generation from being removed. Undefined if it is gone already. */
  async lease(name: string, generation: string, { signal }: StepOptions): Promise<FileLock | undefined> {
    const path = this.layout.lockFile(name, generation);
    const lock = await this.#lock({ path, mode: 'shared', create: false }, { signal });
    return typeof lock === 'string' ? undefined : lock;
  }

  /** Nobody gets a lease on a claimed generation. `busy`: somebody has one. */
  async claim(name: string, generation: string): Promise<FileLock | 'busy' | 'gone'> {
    const path = this.layout.lockFile(name, generation);
    return lockFile(await this.python(), { path, mode: 'exclusive', create: false, waitMs: 0 });
  }

  async #lock(request: LockRequest, options: LockOptions): Promise<FileLock | 'busy' | 'gone'> {
    const signals = options.signal ? [options.signal, this.closing] : [this.closing];
    // A bounded wait ends by itself.
    const stop = request.waitMs === undefined ? { signal: AbortSignal.any(signals) } : {};
    return lockFile(await this.python(), request, { ...options, ...stop });
  }
}

/** Releases the lock in the end. */
export async function during<T>(
  lock: FileLock,
  signal: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await act(signal ? AbortSignal.any([signal, lock.lost]) : lock.lost);
  } finally {
    await lock.release();
  }
}

const waitFor = (wait: boolean) => (wait ? {} : { waitMs: SHORT_WAIT_MS });

export const BEING_CHANGED = 'is being changed: try again when the change has ended, or ask to wait for it.';
export const HAS_RUNS = 'is in use: try again when its runs have ended, or ask to wait for them.';

export const inUse = (name: string, sentence: string) =>
  new PungiError('ENVIRONMENT_IN_USE', `The environment "${name}" ${sentence}`, { venvName: name });
