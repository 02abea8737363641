import type { WorkerSpec } from '@pungi/core/engine';
import { type Beat, hasRoomForSession } from '../protocol/beats.js';
import { keyOf, meets, type WorkerKey } from '../protocol/subjects.js';
import { BEAT_MS } from '../protocol/timing.js';
import type { Reach } from './reach.js';
import type { Trust } from './trust.js';
import type { Workers } from './workers.js';

/** Orders that no worker has confirmed yet. More would only wait, and grow old, in the queues of a busy machine. */
const MOST_UNCONFIRMED = 64;
/** The same for one machine, however often it was started: one that answers nothing keeps no run from others. */
const MOST_UNCONFIRMED_THERE = 16;
/** A worker that was not heard for so long may be lost, and would soon find the order too old. */
const FRESH_MS = 2 * BEAT_MS;
/** So many workers with room are compared: the one with the most room gets the run. */
const CHOICES = 2;

/** A slot of a worker that a run has, by what its front end knows. Each function may be called again. */
export interface Slot {
  leave: () => void;
  /** To call when the order of the run is sent. */
  sent: () => void;
  /** To call when the worker has answered the order, or will not get one. */
  answered: () => void;
}

/** A worker's slots, as far as a front end knows them. */
interface Known {
  /** Runs of this front end. */
  own: number;
  /** Runs of others, by the worker's last heartbeat. */
  others: number;
  /** The time of that heartbeat. */
  at: number;
  /** It has refused one since then. */
  takesNoSessions: boolean;
}

/**
 * Chooses workers for runs by their heartbeats and by what this front end has sent them since: an order then needs no offer before it.
 * It may be wrong, as other front ends choose, too. A worker without room refuses, and the run is offered.
 */
export class Placement {
  readonly #known = new Map<string, Known>();
  #unconfirmed = 0;
  /** The unconfirmed orders of each worker, by its name. */
  readonly #unconfirmedThere = new Map<string, number>();
  #onRoom: () => void = () => {};

  constructor(
    private readonly workers: Workers,
    private readonly trust: Trust,
    private readonly reach: Reach,
  ) {
    workers.onBeat((beat) => this.#hear(beat));
    workers.onGone((key) => this.#known.delete(key));
  }

  /** Calls when there may be room again. */
  onRoom(call: () => void): void {
    this.#onRoom = call;
  }

  /** Whether so many orders wait for a confirmation, of all workers or of each, that another one has to wait. */
  get isCrowded(): boolean {
    const { all } = this.workers;
    if (this.#unconfirmed >= MOST_UNCONFIRMED) return true;
    return all.length > 0 && all.every(({ worker }) => this.isCrowdedAt(worker));
  }

  /** Whether a worker has so many of them that it gets no more, whatever it claims. */
  isCrowdedAt(worker: string): boolean {
    return (this.#unconfirmedThere.get(worker) ?? 0) >= MOST_UNCONFIRMED_THERE;
  }

  /** Returns a worker that should have a free slot and needs no time to prepare. */
  choose({ ref, labels = {}, isForSession = false }: WorkerSpec): Beat | undefined {
    const { all } = this.workers;
    if (all.length === 0 || this.reach.isDown) return undefined;
    let best: { beat: Beat; load: number } | undefined;
    let found = 0;
    const now = performance.now();
    // From anywhere, so that front ends choose different ones.
    const first = Math.floor(Math.random() * all.length);
    for (let step = 0; step < all.length && found < CHOICES; step += 1) {
      const beat = all[(first + step) % all.length]!;
      if (beat.state !== 'ready' || !beat.isOpen || !meets(beat, labels)) continue;
      if (ref !== undefined && !beat.generations.includes(ref.generation)) continue;
      const { own, others, at, takesNoSessions } = this.#of(beat);
      if (now - at > FRESH_MS || own + others >= beat.slots || !this.trust.isTrusted(beat.worker)) continue;
      if (this.isCrowdedAt(beat.worker) || (isForSession && (takesNoSessions || !hasRoomForSession(beat))))
        continue;
      found += 1;
      const load = (own + others) / beat.slots;
      if (best === undefined || load < best.load) best = { beat, load };
    }
    return best?.beat;
  }

  /** Counts a run that will be ordered. */
  reserve(worker: WorkerKey): Slot {
    return { leave: this.#enter(worker), ...this.#expectAnswer(worker.worker) };
  }

  /** Counts a later run of a session. It may wait for a slot there, so no answer to its order is expected at once. */
  reserveForLater(worker: WorkerKey): Slot {
    return { leave: this.#enter(worker), sent: () => {}, answered: () => {} };
  }

  /** Returns a function that leaves the slot. */
  #enter(worker: WorkerKey): () => void {
    const known = this.#of(worker);
    known.own += 1;
    return once(() => {
      known.own -= 1;
      this.#onRoom();
    });
  }

  /**
   * Counts an order to a worker until it is answered. One that is not sent in this turn of the event loop waits for something else, such
   * as its inputs or the state of a background run: it does not count meanwhile, and holds no others back.
   */
  #expectAnswer(worker: string): Pick<Slot, 'sent' | 'answered'> {
    let [isCounted, isSent, isOver] = [false, false, false];
    const count = (isNow: boolean) => {
      if (isNow === isCounted) return;
      isCounted = isNow;
      const wasCrowded = this.isCrowded || this.isCrowdedAt(worker);
      this.#countUnconfirmed(worker, isNow ? 1 : -1);
      if (wasCrowded && !isNow) this.#onRoom();
    };
    count(true);
    setImmediate(() => count(isSent && !isOver));
    return {
      sent: () => {
        isSent = true;
        count(!isOver);
      },
      answered: () => {
        isOver = true;
        count(false);
      },
    };
  }

  #countUnconfirmed(worker: string, change: number): void {
    this.#unconfirmed += change;
    const there = (this.#unconfirmedThere.get(worker) ?? 0) + change;
    if (there === 0) this.#unconfirmedThere.delete(worker);
    else this.#unconfirmedThere.set(worker, there);
  }

  /** It did not take a run: others get them, until its next heartbeat. It may still have room for runs that are no sessions. */
  passBy(worker: WorkerKey, isForSession = false): void {
    const known = this.#known.get(keyOf(worker));
    if (known && isForSession) known.takesNoSessions = true;
    else if (known) known.others = Number.POSITIVE_INFINITY;
  }

  /** The time of the last heartbeat of a worker. */
  heardAt(worker: WorkerKey): number {
    return this.#of(worker).at;
  }

  #of(worker: WorkerKey): Known {
    const key = keyOf(worker);
    const known = this.#known.get(key) ?? { own: 0, others: 0, at: 0, takesNoSessions: false };
    this.#known.set(key, known);
    return known;
  }

  #hear(beat: Beat): void {
    const known = this.#of(beat);
    known.others = Math.max(0, beat.busy - known.own);
    known.at = performance.now();
    known.takesNoSessions = false;
    if (known.own + known.others < beat.slots) this.#onRoom();
  }
}

/** Calls the function the first time that the result is called. */
function once(call: () => void): () => void {
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    call();
  };
}
