import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../base/logger.js';
import { VERSION } from '../base/version.js';
import type { Alert } from '../contract/health.js';

const TIMEOUT_MS = 5000;
/** Delays before the second and the third attempt. */
const RETRY_AFTER_MS = [1000, 4000];
const MAX_WAITING = 32;
const CLOSE_WAIT_MS = 2000;

export interface AlertEvent {
  event: 'raised' | 'cleared';
  alert: Alert;
  /** ISO 8601 */
  at: string;
}

/** Posts a body and returns the status of the response. */
export type Post = (address: URL, body: string, signal: AbortSignal) => Promise<number>;

interface WebhookOptions {
  logger: Logger;
  post?: Post;
  timeoutMs?: number;
  retryAfterMs?: readonly number[];
}

/** The part of an address that may be logged: its path and query can be credentials, too. */
export const originOf = (address: string | URL) => new URL(address).origin;

/** Posts alerts in order, in the background. Failed deliveries are logged. */
export class Webhook {
  readonly #address: URL;
  readonly #logger: Logger;
  readonly #post: Post;
  readonly #timeoutMs: number;
  readonly #retryAfterMs: readonly number[];
  readonly #waiting: AlertEvent[] = [];
  readonly #closing = new AbortController();
  readonly #ended = new AbortController();
  #sending: Promise<void> | undefined;

  constructor(address: string, { logger, post, timeoutMs, retryAfterMs }: WebhookOptions) {
    this.#address = new URL(address);
    this.#logger = logger;
    this.#post = post ?? postJson;
    this.#timeoutMs = timeoutMs ?? TIMEOUT_MS;
    this.#retryAfterMs = retryAfterMs ?? RETRY_AFTER_MS;
  }

  send(event: AlertEvent): void {
    if (this.#closing.signal.aborted) return;
    this.#waiting.push(event);
    // The newest alerts matter most.
    if (this.#waiting.length > MAX_WAITING) this.#complain(this.#waiting.shift()!, 'too many are waiting');
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  /** Gives the current post a moment to finish, without further attempts. */
  async close(): Promise<void> {
    this.#closing.abort();
    const timer = setTimeout(() => this.#ended.abort(), CLOSE_WAIT_MS);
    await this.#sending;
    clearTimeout(timer);
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const problem = await this.#deliver(next);
      if (problem !== null) this.#complain(next, problem);
    }
  }

  /** Resolves to the problem, or null. */
  async #deliver(event: AlertEvent): Promise<string | null> {
    const body = JSON.stringify({ server: 'pungi', version: VERSION, ...event });
    for (let attempt = 0; ; attempt += 1) {
      const { problem, isFinal } = await this.#attempt(body);
      const wait = this.#retryAfterMs[attempt];
      if (problem === null || isFinal || wait === undefined) return problem;
      const closing = this.#closing.signal;
      await pause(wait, undefined, { signal: closing, ref: false }).catch(() => {});
      if (closing.aborted) return problem;
    }
  }

  async #attempt(body: string): Promise<{ problem: string | null; isFinal: boolean }> {
    const signal = AbortSignal.any([AbortSignal.timeout(this.#timeoutMs), this.#ended.signal]);
    try {
      const status = await this.#post(this.#address, body, signal);
      return judgeStatus(status);
    } catch (thrown) {
      return { problem: signal.aborted ? 'no answer in time' : reasonOf(thrown), isFinal: false };
    }
  }

  #complain({ event, alert }: AlertEvent, problem: string): void {
    const webhook = originOf(this.#address);
    this.#logger.error('Could not deliver an alert to the webhook', {
      webhook,
      problem,
      event,
      alert: alert.name,
    });
  }
}

function judgeStatus(status: number): { problem: string | null; isFinal: boolean } {
  if (status >= 200 && status < 300) return { problem: null, isFinal: true };
  const isRedirect = status >= 300 && status < 400;
  const mayPass = status >= 500 || status === 429 || status === 408;
  const problem = `it answered ${status}${isRedirect ? ', and redirects are not followed' : ''}`;
  return { problem, isFinal: !mayPass };
}

/** Returns a code such as ECONNREFUSED, because messages may contain the address. */
function reasonOf(thrown: unknown): string {
  const { cause } = thrown as { cause?: { code?: unknown } };
  return typeof cause?.code === 'string' ? cause.code : 'it could not be reached';
}

const postJson: Post = async (address, body, signal) => {
  // fetch refuses credentials in an address.
  const { username, password } = address;
  const bare = new URL(address);
  bare.username = '';
  bare.password = '';
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const response = await fetch(bare, {
    method: 'POST',
    redirect: 'manual',
    body,
    signal,
    headers: {
      'content-type': 'application/json',
      ...(user !== ':' && { authorization: `Basic ${Buffer.from(user).toString('base64')}` }),
    },
  });
  await response.body?.cancel();
  return response.status;
};
