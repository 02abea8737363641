import { PungiError } from '@pungi/core/base';
import type { Backend, Worker } from '@pungi/core/engine';
import type { Go, Needed, Placing } from '../protocol/messages.js';
import { LEASE_MS } from '../protocol/timing.js';
import { acquireFor } from './acquire.js';
import type { Claim } from './claim.js';
import type { Generations } from './generations.js';
import { Recent } from './recent.js';
import type { Slots } from './slots.js';

export interface PlacedRunsParts {
  backend: Backend;
  generations: Generations;
  slots: Slots;
  /** How old a heartbeat of this worker is, in ms. */
  ageOf: (beat: number) => number;
  /** Whether it takes runs. */
  isOpen: () => boolean;
  /** Whether the machine may hold what the run keeps. To be asked before anything is done for it, and when the claim is made. */
  hasRoomFor: (need: Needed) => boolean;
  /** Makes the claim of an order, which gives the slot back. */
  claim: (order: Go, placing: Placing, worker: Worker, leave: () => void) => Claim;
  /** Whether the claim has run something and ended. */
  wasUsed: (claim: string) => boolean;
  /** Says that nothing was started. */
  refuse: (order: Go, why: string) => void;
}

/** More than arrive while an order is young enough to be followed. */
const MOST_REMEMBERED = 50_000;

/**
 * Runs that a front end has ordered without an offer. Each order is followed at most once: it names a heartbeat of this worker, and
 * is too old a second after that, and until then the worker remembers it. So it also starts nothing after it was counted as lost.
 */
export class PlacedRuns {
  readonly #seen = new Recent(MOST_REMEMBERED);
  readonly #refused = new Recent(MOST_REMEMBERED);

  constructor(private readonly parts: PlacedRunsParts) {}

  /** Returns false if it has been followed before, and has ended. */
  take(order: Go, placing: Placing): boolean {
    const { claim } = order;
    if (this.parts.wasUsed(claim)) return false;
    if (this.#refused.has(claim)) this.#refuse(order, 'it has refused the run');
    else if (this.#isOld(placing)) this.#refuse(order, 'the order is too old');
    // Sent again while the worker prepares: it is answered then.
    else if (this.#seen.add(claim)) void this.#start(order, placing);
    return true;
  }

  async #start(order: Go, placing: Placing): Promise<void> {
    const { slots, isOpen, hasRoomFor, generations, claim } = this.parts;
    const { environment } = placing;
    const isReady = environment === undefined || generations.has(environment.generation);
    const leave = isOpen() && isReady && hasRoomFor(placing) ? slots.tryEnter() : undefined;
    if (leave === undefined) {
      this.#refuse(order, 'it is full');
      return;
    }
    let worker: Worker | undefined;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(notReady()), LEASE_MS);
    try {
      worker = await acquireFor(placing, this.parts, late.signal);
      // Its front end may have given it up.
      if (this.#isOld(placing)) throw notReady();
      if (!hasRoomFor(placing)) throw new PungiError('SERVER_BUSY', 'it holds as many sessions as it may');
      claim(order, placing, worker, leave).go(order);
    } catch (error) {
      worker?.release();
      leave();
      this.#refuse(order, PungiError.from(error).message);
    } finally {
      clearTimeout(timer);
    }
  }

  #isOld({ beat }: Placing): boolean {
    return this.parts.ageOf(beat) > LEASE_MS;
  }

  #refuse(order: Go, why: string): void {
    this.#refused.add(order.claim);
    this.parts.refuse(order, why);
  }
}

const notReady = () => new PungiError('SERVER_BUSY', 'it was not ready in time');
