import type { Beat } from '../protocol/beats.js';
import { pack } from '../protocol/messages.js';
import { BEAT_MS } from '../protocol/timing.js';
import { PROTOCOL } from '../protocol/version.js';

/** Older ones are too old for any order. */
const MOST_REMEMBERED = 64;

export interface HeartbeatsParts {
  /** Returns undefined if there is no heartbeat to send. */
  describe: () => Omit<Beat, 'n' | 'v'> | undefined;
  publish: (message: Buffer) => void;
}

/** The heartbeats of a worker. They are numbered: an order names one, and its age is that of the order. */
export class Heartbeats {
  readonly #sentAt = new Map<number, number>();
  #last = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly parts: HeartbeatsParts) {}

  /** Sends one from time to time, also if nothing has changed. */
  start(): void {
    this.#timer = setInterval(() => this.send(), BEAT_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  send(): void {
    const about = this.parts.describe();
    if (about === undefined) return;
    this.#last += 1;
    this.#sentAt.set(this.#last, performance.now());
    this.#sentAt.delete(this.#last - MOST_REMEMBERED);
    // The number comes first (`splitBeat`).
    this.parts.publish(pack({ n: this.#last, v: PROTOCOL, ...about } satisfies Beat));
  }

  /** Returns the age of a heartbeat in ms; one that is not known is infinitely old. */
  ageOf(beat: number): number {
    return performance.now() - (this.#sentAt.get(beat) ?? Number.NEGATIVE_INFINITY);
  }
}
