import { randomBytes } from 'node:crypto';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import type { Beat } from '../src/protocol/beats.js';
import { packAttached, packFrame } from '../src/protocol/frames.js';
import { type Go, type Offer, pack } from '../src/protocol/messages.js';
import { QUEUE, type Subjects, subjectsOf, type WorkerKey } from '../src/protocol/subjects.js';
import { BEAT_MS } from '../src/protocol/timing.js';

/** How it answers offers and orders. Nothing else is sent. */
export interface Tactic {
  offer(liar: LyingWorker, offer: Offer): void;
  go?(liar: LyingWorker, go: Go): void;
}

/** The signature and the public key before a message. */
const HEAD_BYTES = 120;
const contentOf = (data: Uint8Array) => JSON.parse(Buffer.from(data).subarray(HEAD_BYTES).toString());

/** Somebody with the keys of a worker, who looks like one, and lies. */
export class LyingWorker {
  readonly key: WorkerKey;
  readonly subjects: Subjects = subjectsOf('main');
  readonly #beating: NodeJS.Timeout;
  offers = 0;

  /** `beat`: that of an honest worker. */
  constructor(
    readonly connection: NatsConnection,
    name: string,
    readonly beat: Beat,
    tactic: Tactic,
    subscriptions = 1,
    /** Whether front ends give it runs without an offer. */
    private readonly isOpen = false,
  ) {
    this.key = { worker: name, incarnation: randomBytes(9).toString('base64url') };
    const orders = connection.subscribe(this.subjects.orders(this.key), {
      callback: (_, { subject, data }) => {
        if (subject.endsWith('.go')) tactic.go?.(this, contentOf(data));
      },
    });
    orders.closed.catch(() => {});
    for (let made = 0; made < subscriptions; made += 1)
      connection.subscribe('pungi.main.offer.*.*.*', {
        queue: QUEUE,
        callback: (_, { data }) => {
          this.offers += 1;
          tactic.offer(this, contentOf(data));
        },
      });
    this.sendBeat(this.key.incarnation);
    this.#beating = setInterval(() => this.sendBeat(this.key.incarnation), BEAT_MS);
  }

  sendBeat(incarnation: string, state: Beat['state'] = 'ready'): void {
    const { isOpen } = this;
    const slots = isOpen ? 1000 : this.beat.slots;
    // The honest one may have been busy just then.
    const beat = { ...this.beat, ...this.key, incarnation, isOpen, slots, busy: 0, state };
    this.#publish(this.subjects.beat(this.key.worker), pack(beat));
  }

  /** Claims a run, as itself or under another name. */
  claim({ front, token }: Offer, key: WorkerKey = this.key): void {
    const { tier, about } = this.beat;
    this.send(front, token, pack({ kind: 'claim', ...key, claim: 'a-claim', tier, about }));
  }

  send(front: string, token: string, message: Buffer): void {
    this.#publish(this.subjects.reply(front, token), message);
  }

  /** As the NATS server does if nobody has subscribed to what was sent. */
  sayNobody(front: string, token: string): void {
    this.connection.publish(this.subjects.reply(front, token), '', {
      headers: headers(503, 'No Responders'),
    });
  }

  frame({ front, token }: Go, ...[kind, seq, payload, goesOn]: FrameOf): void {
    this.send(front, token, packFrame({ kind, seq, goesOn: goesOn ?? false, payload: Buffer.from(payload) }));
  }

  /** It leaves as an honest one does, so that nobody has to miss it first. */
  async stop(): Promise<void> {
    clearInterval(this.#beating);
    const beat = { ...this.beat, ...this.key, state: 'stopped' };
    this.#publish(this.subjects.beat(this.key.worker), pack(beat));
    await this.connection.drain();
  }

  #publish(subject: string, message: Buffer): void {
    if (!this.connection.isClosed() && !this.connection.isDraining())
      this.connection.publish(subject, message);
  }
}

type Frame = Parameters<typeof packFrame>[0];
type FrameOf = [kind: Frame['kind'], seq: number, payload: string | Buffer, goesOn?: boolean];

/** The end of a run with status 0. `isKept`: of a session, which goes on. */
export const goodEnd = (isKept = false): Buffer => {
  const facts = { killedFor: null, status: 0, signal: null, wallMs: 1, cpuMs: 1, peakBytes: 1 };
  return packAttached(pack({ facts, summary: null, isKept, checkpoints: [] }));
};
