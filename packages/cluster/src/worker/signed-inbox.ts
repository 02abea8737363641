import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Logger } from '@pungi/core/base';
import type { z } from 'zod';
import { bytesOf } from '../connection.js';
import { parse } from '../protocol/messages.js';
import type { Verifier } from '../protocol/signing.js';

const REPORT_MS = 10_000;

/** Receives what front ends have signed. Anything else is counted, logged from time to time, and dropped without an answer. */
export class SignedInbox {
  /** How many messages were dropped. */
  refused = 0;
  #lastReport = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly connection: NatsConnection,
    private readonly verifier: Verifier,
    private readonly logger: Logger,
  ) {}

  subscribe(subject: string, call: (message: Msg) => void, queue?: string): Subscription {
    return this.connection.subscribe(subject, {
      ...(queue !== undefined && { queue }),
      callback: (error, message) => {
        if (error === null) call(message);
      },
    });
  }

  open<T>(schema: z.ZodType<T>, message: Msg): T | undefined {
    const content = this.verifier.open(message.subject, bytesOf(message));
    const opened = content && parse(schema, content);
    if (opened === undefined) this.refuse(message, content ? 'not valid' : 'not signed by a front end');
    return opened;
  }

  refuse({ subject }: Msg, why: string): void {
    this.refused += 1;
    const now = performance.now();
    if (now - this.#lastReport < REPORT_MS) return;
    this.#lastReport = now;
    this.logger.error('A request was refused', { subject, why, refusedSoFar: this.refused });
  }
}
