interface Heard {
  /** By the clock of the watch. */
  at: number;
  isLost: boolean;
}

/** Those that were lost are forgotten after this. */
const FORGET_MS = 60_000;
/** More would come from somebody who makes names up. */
const MOST_NAMES = 10_000;
/** How often silence is looked for while it becomes a loss: a worker is lost within two seconds. */
const LOOKS = 7.5;
/** A question that was not answered for so long was lost with its connection. */
const UNANSWERED_MS = 5000;

/**
 * Notices who has fallen silent. Its clock runs only while this process listens: it asks the NATS server for an answer, which comes
 * after everything that the server had for it before. After it was stopped, busy or cut off, what arrived meanwhile is heard first.
 */
export class SilenceWatch {
  readonly #heard = new Map<string, Heard>();
  readonly #timer: NodeJS.Timeout;
  readonly #lookMs: number;
  /** The time for which it has listened. */
  #clock = 0;
  #lastLook = performance.now();
  /** The time of the question that was not answered yet. */
  #asked: number | undefined;

  /** `caughtUp` resolves after everything has arrived that the server had before the call. */
  constructor(
    private readonly silenceMs: number,
    private readonly caughtUp: () => Promise<unknown>,
    private readonly listeners: {
      onLost: (name: string) => void;
      onReturn?: (name: string) => void;
      /** Nothing more is known of somebody who was lost. */
      onForget?: (name: string) => void;
    },
  ) {
    this.#lookMs = silenceMs / LOOKS;
    this.#timer = setInterval(() => this.#look(), this.#lookMs);
  }

  hear(name: string): void {
    const known = this.#heard.get(name);
    if (known === undefined && this.#heard.size >= MOST_NAMES && !this.#forgetOne()) return;
    if (known?.isLost === false) known.at = this.#clock;
    else this.#heard.set(name, { at: this.#clock, isLost: false });
    if (known?.isLost) this.listeners.onReturn?.(name);
  }

  /** Watches somebody who was not heard yet. */
  expect(name: string): void {
    if (!this.#heard.has(name)) this.hear(name);
  }

  /** It has said that it ends. */
  end(name: string): void {
    const known = this.#heard.get(name);
    if (known?.isLost === false) this.#lose(name, known);
  }

  /** Forgets somebody, whose loss nobody needs to know. */
  drop(name: string): void {
    this.#heard.delete(name);
  }

  /** Whether it was heard, and is not forgotten. */
  knows(name: string): boolean {
    return this.#heard.has(name);
  }

  isLost(name: string): boolean {
    return this.#heard.get(name)?.isLost !== false;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    if (this.#heard.size === 0) {
      this.#lastLook = now;
      return;
    }
    if (this.#asked !== undefined && now - this.#asked < UNANSWERED_MS) return;
    this.#asked = now;
    const answered = () => {
      if (this.#asked === now) this.#asked = undefined;
    };
    void this.caughtUp().then(() => {
      answered();
      this.#advance(now);
    }, answered);
  }

  /** Whoever is lost makes room for somebody new. Returns whether there was one. */
  #forgetOne(): boolean {
    for (const [name, { isLost }] of this.#heard)
      if (isLost) {
        this.#forget(name);
        return true;
      }
    return false;
  }

  /** It has heard everything up to that time. */
  #advance(to: number): void {
    // Between two looks that are further apart, it was stopped or cut off for a while.
    this.#clock += Math.max(0, Math.min(to - this.#lastLook, 2 * this.#lookMs));
    this.#lastLook = Math.max(to, this.#lastLook);
    for (const [name, heard] of this.#heard) {
      const silentMs = this.#clock - heard.at;
      if (!heard.isLost && silentMs > this.silenceMs) this.#lose(name, heard);
      else if (heard.isLost && silentMs > FORGET_MS) this.#forget(name);
    }
  }

  #forget(name: string): void {
    this.drop(name);
    this.listeners.onForget?.(name);
  }

  #lose(name: string, heard: Heard): void {
    heard.isLost = true;
    this.listeners.onLost(name);
  }
}
