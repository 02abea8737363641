import { randomBytes } from 'node:crypto';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { bytesOf } from '../connection.js';
import type { Subjects } from '../protocol/subjects.js';

export interface Listening {
  token: string;
  /** The subject of the answers. */
  subject: string;
  stop(): void;
}

export interface ReplyListener {
  onMessage(message: Buffer): void;
  /** Nobody has subscribed to what was published: it was not delivered. */
  onNobody(): void;
}

/** A message of the server, not of a subscriber. */
const NO_RESPONDERS = 503;

/** Leads the answers to a front end to those that wait for them: one subscription for all. */
export class Replies {
  readonly #listeners = new Map<string, ReplyListener>();
  readonly #subscription: Subscription;

  constructor(
    connection: NatsConnection,
    private readonly subjects: Subjects,
    private readonly front: string,
  ) {
    this.#subscription = connection.subscribe(subjects.replies(front), {
      callback: (error, message) => {
        if (error === null) this.#receive(message);
      },
    });
  }

  listen(listener: ReplyListener): Listening {
    const token = randomBytes(16).toString('base64url');
    this.#listeners.set(token, listener);
    return {
      token,
      subject: this.subjects.reply(this.front, token),
      stop: () => this.#listeners.delete(token),
    };
  }

  close(): void {
    this.#subscription.unsubscribe();
  }

  #receive(message: Msg): void {
    const token = message.subject.slice(message.subject.lastIndexOf('.') + 1);
    const listener = this.#listeners.get(token);
    if (listener === undefined) return;
    if (message.data.length === 0 && message.headers?.code === NO_RESPONDERS) listener.onNobody();
    else listener.onMessage(bytesOf(message));
  }
}
