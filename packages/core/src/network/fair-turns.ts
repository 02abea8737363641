interface Waiting {
  who: object;
  begin: () => void;
}

/**
 * A semaphore with a limit per caller. The next turn goes to the caller with the fewest, then to the one that came
 * first.
 */
export class FairTurns {
  readonly #open = new Map<object, number>();
  readonly #waiting = new Set<Waiting>();
  #all = 0;

  constructor(
    private readonly most: number,
    private readonly mostOfOne: number,
  ) {}

  /** The turn ends with the work or with the signal, whichever is first; it rejects as they do. */
  async take<T>(who: object, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#wait(who, signal);
    try {
      return await orAborted(work(), signal);
    } finally {
      this.#leave(who);
    }
  }

  #wait(who: object, signal: AbortSignal): Promise<void> {
    const turn = new Promise<void>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const giveUp = () => {
        this.#waiting.delete(waiting);
        reject(signal.reason);
      };
      const waiting = {
        who,
        begin: () => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(waiting);
    });
    this.#callNext();
    return turn;
  }

  #leave(who: object): void {
    this.#all -= 1;
    const left = this.#openOf(who) - 1;
    if (left === 0) this.#open.delete(who);
    else this.#open.set(who, left);
    this.#callNext();
  }

  #callNext(): void {
    if (this.#all >= this.most) return;
    let next: Waiting | undefined;
    for (const waiting of this.#waiting) {
      const open = this.#openOf(waiting.who);
      if (open < (next ? this.#openOf(next.who) : this.mostOfOne)) next = waiting;
    }
    if (!next) return;
    this.#waiting.delete(next);
    this.#all += 1;
    this.#open.set(next.who, this.#openOf(next.who) + 1);
    next.begin();
  }

  #openOf(who: object): number {
    return this.#open.get(who) ?? 0;
  }
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
