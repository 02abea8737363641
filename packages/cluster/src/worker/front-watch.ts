import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { FrontBeat } from '../protocol/beats.js';
import type { Subjects } from '../protocol/subjects.js';
import { FRONT_SILENCE_MS } from '../protocol/timing.js';
import { SilenceWatch } from '../silence.js';
import type { SignedInbox } from './signed-inbox.js';

export interface FrontWatchParts {
  connection: NatsConnection;
  subjects: Subjects;
  inbox: SignedInbox;
  /** Called when a front end is gone. */
  onLost: (front: string) => void;
  /** Whether the worker holds something of it. */
  isUsed: (front: string) => boolean;
}

interface Watched {
  subscription: Subscription;
  /** The number of its last heartbeat. */
  n: number;
  /** The time when it was last served. */
  at: number;
}

/** The worker stops listening to a front end that was not served for so long and has nothing here. */
const UNUSED_MS = 60_000;
const SWEEP_MS = 10_000;

/** Listens to the front ends that a worker serves, and to no others: of hundreds of workers, most serve few of them at a time. */
export class FrontWatch {
  readonly #silence: SilenceWatch;
  readonly #watched = new Map<string, Watched>();
  readonly #sweeping: NodeJS.Timeout;

  constructor(private readonly parts: FrontWatchParts) {
    this.#silence = new SilenceWatch(FRONT_SILENCE_MS, () => parts.connection.flush(), {
      onLost: (front) => {
        this.#unwatch(front);
        parts.onLost(front);
      },
    });
    this.#sweeping = setInterval(() => this.#sweep(), SWEEP_MS);
  }

  /** Listens to a front end of which the worker has something. It is given up when the front end is not heard any more. */
  watch(front: string): void {
    const { connection, subjects, inbox } = this.parts;
    const known = this.#watched.get(front);
    if (known) known.at = performance.now();
    else if (!connection.isClosed()) {
      const subscription = inbox.subscribe(subjects.front(front), (message) => this.#hear(front, message));
      this.#watched.set(front, { subscription, n: 0, at: performance.now() });
    }
    this.#silence.hear(front);
  }

  close(): void {
    clearInterval(this.#sweeping);
    this.#silence.close();
  }

  #hear(front: string, message: Msg): void {
    const { inbox } = this.parts;
    const beat = inbox.open(FrontBeat, message);
    const watched = this.#watched.get(front);
    if (beat?.front !== front || watched === undefined) return;
    if (beat.n <= watched.n) {
      inbox.refuse(message, 'an old heartbeat');
      return;
    }
    watched.n = beat.n;
    if (beat.isClosing) this.#silence.end(front);
    else this.#silence.hear(front);
  }

  #sweep(): void {
    const now = performance.now();
    for (const [front, { at }] of [...this.#watched])
      if (now - at > UNUSED_MS && !this.parts.isUsed(front)) this.#unwatch(front);
  }

  #unwatch(front: string): void {
    this.#watched.get(front)?.subscription.unsubscribe();
    this.#watched.delete(front);
    this.#silence.drop(front);
  }
}
