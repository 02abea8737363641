import type { LockKeeper } from './lock-keeper.js';
import { type Clock, type EnterOptions, SharedHold } from './shared-hold.js';

export type { Clock, EnterOptions } from './shared-hold.js';

const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** Shared locks for many short users: those that come shortly after each other share one, so that few pay for it. */
export class SharedHolds {
  #keeper: Pick<LockKeeper, 'acquire'>;
  #clock: Clock;
  #newest = new Map<string, SharedHold>();

  constructor(keeper: Pick<LockKeeper, 'acquire'>, clock: Clock = systemClock) {
    this.#keeper = keeper;
    this.#clock = clock;
  }

  /** Resolves to the function that leaves. */
  async enter(path: string, options: EnterOptions = {}): Promise<() => void> {
    options.signal?.throwIfAborted();
    return await this.#joinable(path).join(options);
  }

  /** Gives back what nobody uses any more but is kept for the next: call it before asking for an exclusive lock. */
  settle(path: string): void {
    this.#newest.get(path)?.settle();
  }

  #joinable(path: string): SharedHold {
    const known = this.#newest.get(path);
    if (known?.isJoinable) return known;
    // It is replaced, so settle() would not find it any more.
    known?.settle();
    const fresh: SharedHold = new SharedHold(this.#keeper, path, this.#clock, () => {
      if (this.#newest.get(path) === fresh) this.#newest.delete(path);
    });
    this.#newest.set(path, fresh);
    return fresh;
  }
}
