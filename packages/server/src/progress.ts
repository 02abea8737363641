import type { ServerContext } from '@modelcontextprotocol/server';

export const MESSAGES_PER_SECOND = 50;
export const MAX_MESSAGE_CHARS = 1000;
const MAX_UNSENT = 50;
/** Every notification repeats the token: a client that chose a longer one gets none. */
const MAX_TOKEN_CHARS = 200;

type Notify = (progress: number, message: string) => Promise<void>;

/**
 * Sends output lines as progress notifications, one per line while they come slowly. Endless output cannot flood the client:
 * beyond the rate, or while the client does not read, lines are joined and the excess is dropped.
 */
export class ProgressStream {
  readonly #notify: Notify;
  readonly #now: () => number;
  readonly #unsent = new Set<Promise<void>>();
  #lines = 0;
  #allowance = MESSAGES_PER_SECOND;
  #refilledAt: number;
  #held: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(notify: Notify, now: () => number = () => performance.now()) {
    this.#notify = notify;
    this.#now = now;
    this.#refilledAt = now();
  }

  /** Returns undefined for a client that did not ask for progress. */
  static for({ mcpReq }: ServerContext): ProgressStream | undefined {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken === undefined || String(progressToken).length > MAX_TOKEN_CHARS) return undefined;
    return new ProgressStream((progress, message) =>
      mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } }),
    );
  }

  push(line: string): void {
    this.#lines += 1;
    this.#hold(line);
    this.#sendOrWait();
  }

  /** Sends held lines, so that all progress is out before the result. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#send();
    await Promise.all(this.#unsent);
  }

  #hold(line: string): void {
    const before = this.#held === undefined ? '' : `${this.#held}\n`;
    if (before.length <= MAX_MESSAGE_CHARS) this.#held = before + line.slice(0, MAX_MESSAGE_CHARS + 1);
  }

  #sendOrWait(): void {
    if (this.#timer !== undefined) return;
    this.#refill();
    if (this.#allowance >= 1 && this.#unsent.size < MAX_UNSENT) {
      this.#send();
      return;
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#held !== undefined) this.#sendOrWait();
    }, 1000 / MESSAGES_PER_SECOND);
  }

  #refill(): void {
    const now = this.#now();
    const earned = ((now - this.#refilledAt) / 1000) * MESSAGES_PER_SECOND;
    this.#allowance = Math.min(MESSAGES_PER_SECOND, this.#allowance + earned);
    this.#refilledAt = now;
  }

  #send(): void {
    if (this.#held === undefined) return;
    const message =
      this.#held.length > MAX_MESSAGE_CHARS ? `${this.#held.slice(0, MAX_MESSAGE_CHARS)}…` : this.#held;
    this.#held = undefined;
    this.#allowance -= 1;
    // A client that has gone away or has cancelled does not affect the run.
    const sent = this.#notify(this.#lines, message).catch(() => {});
    this.#unsent.add(sent);
    void sent.then(() => this.#unsent.delete(sent));
  }
}
