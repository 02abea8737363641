import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import { bytesOf } from '../connection.js';
import { FrontBeat } from '../protocol/beats.js';
import { parse } from '../protocol/messages.js';
import { contentOf } from '../protocol/signing.js';
import type { Subjects } from '../protocol/subjects.js';
import { FRONT_SILENCE_MS } from '../protocol/timing.js';
import { SilenceWatch } from '../silence.js';

/** The front ends that a front end hears. NATS lets nobody else publish their heartbeats. */
export class Fronts {
  readonly #silence: SilenceWatch;
  readonly #heard = new Set<string>();
  readonly #subscription: Subscription;
  /** Since when this front end could hear the others. */
  #since = performance.now();

  constructor(
    private readonly connection: NatsConnection,
    subjects: Subjects,
  ) {
    this.#silence = new SilenceWatch(FRONT_SILENCE_MS, () => connection.flush(), { onLost: () => {} });
    this.#subscription = connection.subscribe(subjects.fronts, {
      callback: (error, message) => {
        if (error === null) this.#hear(bytesOf(message));
      },
    });
    void this.#followConnection();
  }

  /** How many are heard, this one included. */
  get count(): number {
    return [...this.#heard].filter((front) => !this.#silence.isLost(front)).length;
  }

  /** Whether a front end is not heard, although it could be. One that nobody has asked for is given the time to be heard. */
  isGone(front: string): boolean {
    if (!this.#silence.knows(front)) this.#silence.expect(front);
    const couldHear = !this.connection.isClosed() && performance.now() - this.#since > FRONT_SILENCE_MS;
    return couldHear && this.#silence.isLost(front);
  }

  close(): void {
    this.#subscription.unsubscribe();
    this.#silence.close();
  }

  #hear(message: Buffer): void {
    const beat = parse(FrontBeat, contentOf(message));
    if (beat === undefined) return;
    if (beat.isClosing) this.#silence.end(beat.front);
    else this.#silence.hear(beat.front);
    this.#heard.add(beat.front);
    for (const front of this.#heard) if (!this.#silence.knows(front)) this.#heard.delete(front);
  }

  /** Without a connection nobody is heard, which says nothing about the others. */
  async #followConnection(): Promise<void> {
    for await (const { type } of this.connection.status()) {
      if (type === 'disconnect') this.#since = Number.POSITIVE_INFINITY;
      else if (type === 'reconnect') this.#since = performance.now();
    }
  }
}
