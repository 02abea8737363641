import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Logger, PungiError, VERSION } from '@pungi/core/base';
import { leave } from '../connection.js';
import type { FrontBeat } from '../protocol/beats.js';
import { pack } from '../protocol/messages.js';
import type { Signer } from '../protocol/signing.js';
import type { OrderKind, Subjects, WorkerKey } from '../protocol/subjects.js';
import { BEAT_MS } from '../protocol/timing.js';
import { PROTOCOL } from '../protocol/version.js';
import { SealedStore } from '../sealed-store.js';
import { Acks } from './acks.js';
import { HeldClaims } from './held-claims.js';
import { Holdings } from './holdings.js';
import { Placement } from './placement.js';
import { Reach } from './reach.js';
import { Replies } from './replies.js';
import { Trust } from './trust.js';
import { Workers } from './workers.js';

export interface LinkParts {
  connection: NatsConnection;
  subjects: Subjects;
  signer: Signer;
  logger: Logger;
}

/** A front end's side of the cluster: it is heard, hears workers, and sends them signed requests. */
export class FrontLink {
  /** Of this start; another one has another. */
  readonly front = randomBytes(12).toString('base64url');
  readonly startedAt = performance.now();
  readonly replies: Replies;
  readonly workers: Workers;
  readonly reach: Reach;
  readonly inputs: SealedStore;
  readonly trust: Trust;
  readonly holdings = new Holdings();
  readonly placement: Placement;
  readonly acks = new Acks((worker, received) => this.order(worker, 'ack', { received }));
  readonly held = new HeldClaims((worker, claims) => this.order(worker, 'hold', { claims }));
  readonly #beating: NodeJS.Timeout;
  readonly #ending = new Set<Promise<unknown>>();
  /** The runs of the front end, for its heartbeats. */
  queue: (() => FrontBeat['queue']) | undefined;
  #beats = 0;

  constructor(private readonly parts: LinkParts) {
    const { connection, subjects, logger } = parts;
    this.replies = new Replies(connection, subjects, this.front);
    this.workers = new Workers(connection, subjects, logger);
    this.trust = new Trust(logger);
    this.reach = new Reach(connection, () => this.workers.giveUp());
    this.placement = new Placement(this.workers, this.trust, this.reach);
    this.inputs = new SealedStore(connection, subjects.cluster);
    this.#beat();
    this.#beating = setInterval(() => this.#beat(), BEAT_MS);
  }

  get connection(): NatsConnection {
    return this.parts.connection;
  }

  get signer(): Signer {
    return this.parts.signer;
  }

  get subjects(): Subjects {
    return this.parts.subjects;
  }

  /** `reply`: the subject that NATS notifies if nobody gets it. Throws INVALID_INPUT if it is too large for NATS. */
  send(subject: string, message: object, reply?: string): void {
    this.sendSigned(subject, this.sign(subject, message), reply);
  }

  order(worker: WorkerKey, kind: OrderKind, message: object): void {
    this.send(this.subjects.order(worker, kind), { front: this.front, ...message });
  }

  sign(subject: string, message: object): Buffer {
    const signed = this.parts.signer.sign(subject, pack(message));
    const most = this.parts.connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
    if (signed.length > most) throw tooLarge(signed.length, most);
    return signed;
  }

  sendSigned(subject: string, signed: Buffer, reply?: string): void {
    const { connection } = this.parts;
    if (connection.isClosed() || connection.isDraining()) return;
    connection.publish(subject, signed, reply === undefined ? {} : { reply });
  }

  /** The front end does not leave before: a run that was cancelled ends soon, and says how. */
  stayUntil(ended: Promise<unknown>): void {
    const settled = ended.catch(() => {}).finally(() => this.#ending.delete(settled));
    this.#ending.add(settled);
  }

  /** Calls at every notice that a worker has a free slot. */
  onFree(call: () => void): void {
    this.parts.connection.subscribe(this.subjects.free, { callback: call });
  }

  async close(): Promise<void> {
    await Promise.all(this.#ending);
    clearInterval(this.#beating);
    this.held.close();
    this.acks.flush();
    this.#beat(true);
    this.replies.close();
    this.workers.close();
    this.reach.close();
    await leave(this.parts.connection);
  }

  #beat(isClosing = false): void {
    this.#beats += 1;
    const now = performance.now();
    const beat: FrontBeat = {
      v: PROTOCOL,
      front: this.front,
      n: this.#beats,
      version: VERSION,
      host: hostname(),
      queue: this.queue?.(),
      lost: this.workers.lost.map(({ beat: { worker }, since }) => ({ worker, forMs: now - since })),
      ...(isClosing && { isClosing }),
    };
    this.send(this.subjects.front(this.front), beat);
  }
}

const tooLarge = (bytes: number, most: number) =>
  new PungiError(
    'INVALID_INPUT',
    `The code and inputs of the run take ${bytes} bytes, and a message of the cluster at most ${most}: pass less.`,
  );
