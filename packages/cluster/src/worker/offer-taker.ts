import type { Msg, Subscription } from '@nats-io/transport-node';
import { PungiError } from '@pungi/core/base';
import type { Backend, Worker } from '@pungi/core/engine';
import { GenerationGone } from '@pungi/core/engine';
import { type Needed, Offer, type OfferAnswer } from '../protocol/messages.js';
import { QUEUE, type WorkerKey } from '../protocol/subjects.js';
import { incompatible, isCompatible } from '../protocol/version.js';
import { acquireFor } from './acquire.js';
import type { Generations } from './generations.js';
import { Recent } from './recent.js';
import type { SignedInbox } from './signed-inbox.js';
import type { Slots } from './slots.js';
import type { Trail } from './trail.js';

export interface OfferTakerParts {
  inbox: SignedInbox;
  backend: Backend;
  generations: Generations;
  slots: Slots;
  /** A worker that cannot say what it starts takes nothing. */
  trail: Trail;
  /** Aborted when the worker ends. */
  closing: AbortSignal;
  /** The subjects of the offers that it can take. A new list if they have changed. */
  subjects: () => readonly string[];
  answer: (offer: Offer, content: OfferAnswer) => void;
  /** Who answers. */
  key: WorkerKey;
  /** Whether the machine may hold what the run keeps. To be asked before anything is done for it, and when the claim is made. */
  hasRoomFor: (need: Needed) => boolean;
  /** Makes a claim, which gives the slot back. */
  claim: (offer: Offer, worker: Worker, leave: () => void) => OfferAnswer;
  /** Called after it was full. */
  onFree: () => void;
}

/** Offers that are remembered, so that one that is sent again reserves no second slot. */
const MOST_REMEMBERED = 50_000;
const NONE: readonly string[] = [];
const FULL = { reason: 'full', message: 'The worker is full.' } as const;

/** Takes offers while the worker has free slots. */
export class OfferTaker {
  readonly #seen = new Recent(MOST_REMEMBERED);
  readonly #subscriptions = new Map<string, Subscription>();
  #subscribed: readonly string[] = NONE;
  #isOpen = false;

  constructor(private readonly parts: OfferTakerParts) {}

  /** Whether it takes runs, if there is a free slot. */
  get isOpen(): boolean {
    return this.#isOpen && this.parts.trail.tryWrite();
  }

  open(): void {
    this.#isOpen = true;
    this.balance();
  }

  /** Takes no more. */
  close(): void {
    this.#isOpen = false;
    this.balance();
  }

  /** Called when a slot was taken or left, the subjects have changed, and from time to time: a full worker is in no queue group. */
  balance(): void {
    const { inbox, slots, subjects, onFree } = this.parts;
    const wanted = this.isOpen && !slots.isFull ? subjects() : NONE;
    const before = this.#subscribed;
    if (wanted === before) return;
    this.#subscribed = wanted;
    const kept = new Set(wanted);
    for (const [subject, subscription] of [...this.#subscriptions]) {
      if (kept.has(subject)) continue;
      subscription.unsubscribe();
      this.#subscriptions.delete(subject);
    }
    for (const subject of wanted) {
      if (this.#subscriptions.has(subject)) continue;
      const subscription = inbox.subscribe(subject, (message) => void this.#take(message), QUEUE);
      this.#subscriptions.set(subject, subscription);
    }
    if (before.length === 0) onFree();
  }

  async #take(message: Msg): Promise<void> {
    const { inbox, slots, hasRoomFor } = this.parts;
    const offer = inbox.open(Offer, message);
    if (offer === undefined) return;
    if (!this.#seen.add(offer.token)) {
      inbox.refuse(message, 'an offer that was made before');
      return;
    }
    if (!isCompatible(offer.v)) {
      this.#refuse(offer, { reason: 'version', message: incompatible(offer.v) });
      return;
    }
    if (!hasRoomFor(offer)) {
      this.#refuse(offer, FULL);
      return;
    }
    let leave: (() => void) | undefined;
    try {
      await this.#build(offer);
      leave = this.#isOpen ? slots.tryEnter() : undefined;
      if (leave === undefined) this.#refuse(offer, FULL);
      else this.#claim(offer, await this.#acquire(offer), leave);
    } catch (error) {
      leave?.();
      const { code, message: why } = PungiError.from(error);
      const reason = error instanceof GenerationGone ? 'gone' : 'failed';
      this.#refuse(offer, { reason, code, message: why });
    }
  }

  #claim(offer: Offer, worker: Worker, leave: () => void): void {
    const { answer, claim, hasRoomFor } = this.parts;
    if (hasRoomFor(offer)) {
      answer(offer, claim(offer, worker, leave));
      return;
    }
    worker.release();
    leave();
    this.#refuse(offer, FULL);
  }

  /** Builds the environment, if it is not there. That takes no slot from runs. */
  async #build(offer: Offer): Promise<void> {
    const { generations, answer, key } = this.parts;
    const { environment } = offer;
    if (environment === undefined || generations.has(environment.generation)) return;
    answer(offer, { kind: 'taken', ...key, isBuilding: true });
    await generations.ref(environment);
  }

  #refuse(offer: Offer, why: Pick<OfferAnswer & { kind: 'refused' }, 'reason' | 'code' | 'message'>): void {
    this.parts.answer(offer, { kind: 'refused', ...this.parts.key, ...why });
  }

  /** Most offers find a parked worker; the others get the answer that it takes a moment. */
  async #acquire(offer: Offer): Promise<Worker> {
    const { closing, answer, key } = this.parts;
    const late = setImmediate(() => answer(offer, { kind: 'taken', ...key }));
    try {
      return await acquireFor(offer, this.parts, closing);
    } finally {
      clearImmediate(late);
    }
  }
}
