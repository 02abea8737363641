import type { Hold, LockKeeper } from './lock-keeper.js';

export interface EnterOptions {
  signal?: AbortSignal;
  /** Called once if the lock was not had soon. */
  onWait?: () => void;
}

export interface Clock {
  now(): number;
  /** Calls back after so many milliseconds, unless the function it returns was called before. */
  after(ms: number, call: () => void): () => void;
}

/** For this long others may join. Then they line up again, behind whoever waits to change what is locked. */
const JOINABLE_MS = 500;
/** An unused hold is kept for this long, for calls that follow each other closely. */
const LINGER_MS = 20;

/** One shared lock with its users: it is asked for by the first, and given back after the last. */
export class SharedHold {
  #clock: Clock;
  #onOver: () => void;
  #users = 0;
  #since: number;
  #hold: Hold | undefined;
  #acquired: Promise<void>;
  #cancel = new AbortController();
  #isOver = false;
  #isSlow = false;
  #untold = new Set<() => void>();
  #stopLingering: (() => void) | undefined;

  constructor(keeper: Pick<LockKeeper, 'acquire'>, path: string, clock: Clock, onOver: () => void) {
    this.#clock = clock;
    this.#onOver = onOver;
    this.#since = clock.now();
    const onWait = () => {
      this.#isSlow = true;
      for (const tell of this.#untold) tell();
    };
    this.#acquired = keeper.acquire(path, 'shared', { signal: this.#cancel.signal, onWait }).then(
      (hold) => this.#begin(hold),
      (error) => {
        this.#finish();
        throw error;
      },
    );
    // Whoever waits for it hears of it; the last one may have left.
    this.#acquired.catch(() => {});
  }

  get isJoinable(): boolean {
    const isLost = this.#hold?.lost.aborted ?? false;
    return !this.#isOver && !isLost && this.#clock.now() - this.#since < JOINABLE_MS;
  }

  /** Resolves to the function that leaves. Aborted, it leaves the others undisturbed. */
  async join({ signal, onWait }: EnterOptions): Promise<() => void> {
    this.#users += 1;
    this.#stopLingering?.();
    let isIn = true;
    const leave = () => {
      if (isIn) this.#leave();
      isIn = false;
    };
    if (this.#hold) return leave;
    // A function of this user's own: two users may have brought the same.
    const tell = () => onWait?.();
    if (this.#isSlow) tell();
    else this.#untold.add(tell);
    try {
      await orAborted(this.#acquired, signal);
      return leave;
    } catch (error) {
      leave();
      throw error;
    } finally {
      this.#untold.delete(tell);
    }
  }

  /** Given back at once if nobody uses it. */
  settle(): void {
    if (this.#users === 0) this.#finish();
  }

  #begin(hold: Hold): void {
    this.#since = this.#clock.now();
    if (this.#isOver) hold.release();
    else this.#hold = hold;
  }

  #leave(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    if (this.#hold && this.isJoinable)
      this.#stopLingering = this.#clock.after(LINGER_MS, () => this.settle());
    else this.#finish();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopLingering?.();
    this.#cancel.abort();
    this.#hold?.release();
    this.#onOver();
  }
}

async function orAborted(promise: Promise<void>, signal?: AbortSignal): Promise<void> {
  if (!signal) return await promise;
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
