/** The runs that a worker takes at the same time. */
export class Slots {
  taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    readonly total: number,
    private readonly onChange: () => void,
  ) {}

  get isFull(): boolean {
    return this.taken >= this.total;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Returns what leaves the slot, or undefined if none is free. */
  tryEnter(): (() => void) | undefined {
    return this.isFull ? undefined : this.#occupy();
  }

  /** For the runs of sessions, which can be nowhere else. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<() => void> {
    if (!this.isFull) return Promise.resolve(this.#occupy());
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(next), 1);
        reject(signal.reason);
      };
      const next = () => {
        signal.removeEventListener('abort', abort);
        resolve(this.#occupy());
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(next);
    });
  }

  #occupy(): () => void {
    this.taken += 1;
    this.onChange();
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      this.taken -= 1;
      this.#waiting.shift()?.();
      this.onChange();
    };
  }
}
