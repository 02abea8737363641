import { LOOK_MS } from './protocol/timing.js';

interface Heard {
  at: number;
  isLost: boolean;
}

/** Those that were lost are forgotten after this. */
const FORGET_MS = 60_000;
/** More would come from somebody who makes names up. */
const MOST_NAMES = 10_000;

/**
 * Notices who has fallen silent. Only the time in which this process could listen counts: after it was stopped or busy, what
 * arrived meanwhile is heard first.
 */
export class SilenceWatch {
  readonly #heard = new Map<string, Heard>();
  readonly #timer: NodeJS.Timeout;
  #lastLook = performance.now();

  constructor(
    private readonly silenceMs: number,
    private readonly listeners: {
      onLost: (name: string) => void;
      onReturn?: (name: string) => void;
      onForget?: (name: string) => void;
    },
  ) {
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  hear(name: string): void {
    const known = this.#heard.get(name);
    if (known === undefined && this.#heard.size >= MOST_NAMES) return;
    this.#heard.set(name, { at: performance.now(), isLost: false });
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
    const late = now - this.#lastLook - LOOK_MS;
    this.#lastLook = now;
    for (const [name, heard] of this.#heard) {
      if (late > LOOK_MS) heard.at += late;
      const silentMs = now - heard.at;
      if (!heard.isLost && silentMs > this.silenceMs) this.#lose(name, heard);
      else if (heard.isLost && silentMs > FORGET_MS) this.#forget(name);
    }
  }

  #forget(name: string): void {
    this.#heard.delete(name);
    this.listeners.onForget?.(name);
  }

  #lose(name: string, heard: Heard): void {
    heard.isLost = true;
    this.listeners.onLost(name);
  }
}
