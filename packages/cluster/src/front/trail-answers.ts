import type { Subscription } from '@nats-io/transport-node';
import { PungiError } from '@pungi/core/base';
import { bytesOf } from '../connection.js';
import { PAGE_BYTES, pageMessage, TrailRequest } from '../protocol/checkpoints.js';
import { pack, parse } from '../protocol/messages.js';
import { seal } from '../sealing.js';
import type { AuditParts, OwnTrail } from './own-trail.js';

/** Reading blocks the process: that many requests may wait, others are dropped and asked again. */
const MOST_WAITING = 16;

/** Gives operators the entries of the audit trail, a part at a time, so that they compute its hashes themselves. */
export class TrailAnswers {
  readonly #subscription: Subscription;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  /** `trail`: undefined if nothing is recorded. */
  constructor(
    private readonly parts: AuditParts,
    private readonly trail: OwnTrail | undefined,
  ) {
    const { connection, subjects, signer } = parts;
    this.#subscription = connection.subscribe(subjects.trail(signer.publicKey), {
      callback: (error, message) => {
        if (error === null) this.#receive(message.subject, bytesOf(message));
      },
    });
  }

  async close(): Promise<void> {
    this.#subscription.unsubscribe();
    await this.#last;
  }

  /** One at a time. */
  #receive(subject: string, message: Buffer): void {
    const content = this.parts.verifier.open(subject, message);
    const request = content && parse(TrailRequest, content);
    if (request === undefined || this.#waiting >= MOST_WAITING) return;
    this.#waiting += 1;
    this.#last = this.#last
      .then(() => this.#answer(request))
      .catch((error: Error) =>
        this.parts.logger.error('A part of the audit trail could not be sent', { reason: error.message }),
      )
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  async #answer({ token, key, from }: TrailRequest): Promise<void> {
    const answer = pack(await this.#page(from));
    const { connection, subjects } = this.parts;
    if (!connection.isClosed()) connection.publish(subjects.entries(token), seal(answer, key));
  }

  async #page(from: TrailRequest['from']): Promise<object> {
    if (this.trail === undefined)
      return { kind: 'failed', isDamaged: false, message: 'It records nothing (AUDIT=false).' };
    try {
      return pageMessage((await this.trail.open()).page(from, PAGE_BYTES));
    } catch (error) {
      const { code, message } = PungiError.from(error);
      return { kind: 'failed', isDamaged: code === 'AUDIT_DAMAGED', message };
    }
  }
}
