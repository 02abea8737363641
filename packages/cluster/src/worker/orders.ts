import type { Msg } from '@nats-io/transport-node';
import { Usage } from '../protocol/environments.js';
import {
  Ack,
  Cancel,
  Copy,
  Go,
  Hold,
  pack,
  packRefusal,
  type Received,
  Release,
} from '../protocol/messages.js';
import type { OrderKind } from '../protocol/subjects.js';
import type { Changes } from './changes.js';
import type { Claim } from './claim.js';
import type { Claims } from './claims.js';
import type { PlacedRuns } from './placed-runs.js';
import type { SignedInbox } from './signed-inbox.js';

export interface OrdersParts {
  inbox: SignedInbox;
  claims: Claims;
  changes: Changes;
  placed: PlacedRuns;
  /** Called when a front end names a claim that it has. */
  onHeld: (claim: Claim) => void;
  reply: (front: string, token: string, message: Buffer) => void;
}

/** Follows the orders of front ends for the claims and changes that they have. */
export class Orders {
  constructor(private readonly parts: OrdersParts) {}

  follow(message: Msg): void {
    const kind = message.subject.slice(message.subject.lastIndexOf('.') + 1);
    const follow = this.#table[kind as OrderKind];
    if (follow === undefined) this.parts.inbox.refuse(message, 'an unknown order');
    else follow(message);
  }

  readonly #table: Record<OrderKind, (message: Msg) => void> = {
    hold: (message) => {
      const order = this.parts.inbox.open(Hold, message);
      for (const claim of order?.claims ?? []) this.#hold(order!.front, claim);
    },
    go: (message) => this.#go(message),
    cancel: (message) => {
      const order = this.parts.inbox.open(Cancel, message);
      if (order) this.parts.claims.find(order.claim, order.front)?.cancel(order.n);
    },
    ack: (message) => {
      const order = this.parts.inbox.open(Ack, message);
      for (const one of order?.received ?? []) this.#ack(order!.front, one);
    },
    copy: (message) => {
      const order = this.parts.inbox.open(Copy, message);
      if (order) this.parts.claims.find(order.claim, order.front)?.copy(order);
    },
    release: (message) => {
      const order = this.parts.inbox.open(Release, message);
      if (order) this.parts.claims.find(order.claim, order.front)?.release();
    },
    change: (message) => this.parts.changes.take(message),
    poll: (message) => this.parts.changes.poll(message),
    dismiss: (message) => this.parts.changes.dismiss(message),
    usage: (message) => {
      const { inbox, claims, reply } = this.parts;
      const order = inbox.open(Usage, message);
      if (order)
        reply(order.front, order.token, pack({ kind: 'usage', claims: claims.using(order.environment) }));
    },
  };

  #hold(front: string, id: string): void {
    const { claims, onHeld } = this.parts;
    const claim = claims.find(id, front);
    claim?.hold();
    if (claim) onHeld(claim);
  }

  #go(message: Msg): void {
    const { inbox, claims, placed } = this.parts;
    const order = inbox.open(Go, message);
    if (order === undefined) return;
    const { claim, front, token, placing, received = [] } = order;
    for (const one of received) this.#ack(front, one);
    if (claims.find(claim, front)?.go(order)) return;
    if (placing !== undefined && placed.take(order, placing)) return;
    const isUsed = claims.wasUsed(claim);
    if (isUsed) inbox.refuse(message, 'a claim that was used before');
    this.#refuse(front, token, isUsed ? 'used' : 'no-claim', 0);
  }

  #ack(front: string, { claim: id, n, next, token }: Received): void {
    const claim = this.parts.claims.find(id, front);
    claim?.ack(n, next);
    if (claim === undefined && token !== undefined) this.#refuse(front, token, 'used', next);
  }

  #refuse(front: string, token: string, reason: keyof typeof REFUSALS, seq: number): void {
    this.parts.reply(front, token, packRefusal({ reason, message: REFUSALS[reason] }, seq));
  }
}

const REFUSALS = {
  'no-claim': 'it does not know the claim',
  used: 'it has ended the claim of the run',
} as const;
