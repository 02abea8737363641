import type { Msg } from '@nats-io/transport-node';
import { Usage } from '../protocol/environments.js';
import { packFrame } from '../protocol/frames.js';
import { Ack, Cancel, Copy, Go, Hold, pack, type Refusal, Release } from '../protocol/messages.js';
import type { OrderKind } from '../protocol/subjects.js';
import type { Changes } from './changes.js';
import type { Claims } from './claims.js';
import type { SignedInbox } from './signed-inbox.js';

export interface OrdersParts {
  inbox: SignedInbox;
  claims: Claims;
  changes: Changes;
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
      if (order) this.parts.claims.find(order.claim, order.front)?.hold();
    },
    go: (message) => this.#go(message),
    cancel: (message) => {
      const order = this.parts.inbox.open(Cancel, message);
      if (order) this.parts.claims.find(order.claim, order.front)?.cancel(order.n);
    },
    ack: (message) => {
      const order = this.parts.inbox.open(Ack, message);
      if (order === undefined) return;
      const { claim: id, front, n, next, token } = order;
      const claim = this.parts.claims.find(id, front);
      claim?.ack(n, next);
      if (claim === undefined && token !== undefined) this.#refuse(front, token, 'used', next);
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

  #go(message: Msg): void {
    const { inbox, claims } = this.parts;
    const order = inbox.open(Go, message);
    if (order === undefined) return;
    const { claim, front, token } = order;
    if (claims.find(claim, front)?.go(order)) return;
    const isUsed = claims.wasUsed(claim);
    if (isUsed) inbox.refuse(message, 'a claim that was used before');
    this.#refuse(front, token, isUsed ? 'used' : 'no-claim', 0);
  }

  #refuse(front: string, token: string, reason: keyof typeof REFUSALS, seq: number): void {
    const payload = pack({ reason, message: REFUSALS[reason] } satisfies Refusal);
    this.parts.reply(front, token, packFrame({ kind: 'refused', seq, goesOn: false, payload }));
  }
}

const REFUSALS = {
  'no-claim': 'it does not know the claim',
  used: 'it has ended the claim of the run',
} as const;
