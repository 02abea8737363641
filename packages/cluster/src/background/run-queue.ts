import { setTimeout as pause } from 'node:timers/promises';
import {
  AckPolicy,
  type Consumer,
  JetStreamApiError,
  type JetStreamClient,
  type JsMsg,
  jetstream,
  jetstreamManager,
  type StoredMsg,
} from '@nats-io/jetstream';
import { type NatsConnection, nanos } from '@nats-io/transport-node';
import { bytesOf } from '../connection.js';
import { QueuedRun } from '../protocol/background.js';
import { pack, parse } from '../protocol/messages.js';
import type { Signer, Verifier } from '../protocol/signing.js';
import { storeName } from '../protocol/stores.js';
import { isCompatible } from '../protocol/version.js';
import { ANSWER_MS, patiently } from './patience.js';

/** All front ends take from it together. */
const CONSUMER = 'fronts';
/** A run whose front end does not say that it goes on is delivered again after this, to any of them. */
const ACK_MS = 3000;
/** Runs that front ends have at the same time. */
const MOST_PENDING = 10_000;
/** How long the server keeps a request for the next run, and how long its answer is waited for: its leader may be gone. */
const ASK_MS = 2000;
const LATE_MS = 2 * ASK_MS;
/** The answer of a server that has no such consumer. */
const NO_CONSUMER = 10_014;

/** A run that was taken from the queue: it stays there until it is acknowledged. */
export type QueueMessage = Pick<JsMsg, 'ack' | 'nak' | 'working' | 'info'>;

/** The runs that have not ended, in a stream of NATS. Front ends trust what one of them has signed. */
export class RunQueue {
  #consumer: Promise<Consumer> | undefined;
  readonly #jetstream: JetStreamClient;

  constructor(
    private readonly connection: NatsConnection,
    private readonly cluster: string,
    private readonly keys: { signer: Signer; verifier: Verifier },
  ) {
    this.#jetstream = jetstream(connection, { timeout: ANSWER_MS });
  }

  /** Resolves when NATS has stored it. */
  async add(queued: QueuedRun): Promise<void> {
    const subject = this.#subjectOf(queued.run);
    const signed = this.keys.signer.sign(subject, pack(queued));
    // NATS stores it once, however often it is sent.
    await patiently(() => this.#jetstream.publish(subject, signed, { msgID: queued.run }));
  }

  /** Resolves to the next message, or to null if there is none for a time. */
  async next(): Promise<JsMsg | null> {
    this.#consumer ??= this.#open();
    const late = new AbortController();
    const isLate = pause(LATE_MS, undefined, { signal: late.signal }).then(() => {
      throw new Error('no answer');
    });
    try {
      const consumer = await this.#consumer;
      return await Promise.race([consumer.next({ expires: ASK_MS }), isLate]);
    } catch (error) {
      this.#consumer = undefined;
      throw error;
    } finally {
      late.abort();
      isLate.catch(() => {});
    }
  }

  /** Returns undefined if no front end has signed it, or it cannot be read. */
  read(message: Pick<JsMsg, 'subject' | 'data'>): QueuedRun | undefined {
    const content = this.keys.verifier.open(message.subject, bytesOf(message));
    const queued = content && parse(QueuedRun, content);
    const isRight = queued && isCompatible(queued.v) && message.subject === this.#subjectOf(queued.run);
    return isRight ? queued : undefined;
  }

  /** Whether the run is in the queue, also while a front end has it. */
  async has(run: string): Promise<boolean> {
    return (await this.#stored(run)) !== null;
  }

  async find(run: string): Promise<QueuedRun | undefined> {
    const found = await this.#stored(run);
    return found ? this.read(found) : undefined;
  }

  async #stored(run: string): Promise<StoredMsg | null> {
    const { streams } = await jetstreamManager(this.connection, { checkAPI: false, timeout: ANSWER_MS });
    const query = { last_by_subj: this.#subjectOf(run) };
    return patiently(() => streams.getMessage(this.#stream, query));
  }

  async #open(): Promise<Consumer> {
    const { consumers } = await jetstreamManager(this.connection, { checkAPI: false, timeout: ANSWER_MS });
    const get = () => this.#jetstream.consumers.get(this.#stream, CONSUMER);
    return get().catch(async (error: unknown) => {
      if (!(error instanceof JetStreamApiError) || error.code !== NO_CONSUMER) throw error;
      await consumers.add(this.#stream, {
        durable_name: CONSUMER,
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(ACK_MS),
        max_deliver: -1,
        max_ack_pending: MOST_PENDING,
      });
      return get();
    });
  }

  get #stream(): string {
    return storeName(this.cluster, 'background');
  }

  #subjectOf = (run: string): string => `pungi.${this.cluster}.background.${run}`;
}
