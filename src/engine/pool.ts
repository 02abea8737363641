import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { ForkServer } from '../runtime/fork-server.js';
import type { Worker } from '../runtime/worker.js';

const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 10_000;
/** Refilling waits a moment, so that it does not take the processor from the run that has just begun to answer. */
const REFILL_DELAY_MS = 1;

export interface PoolOptions {
  size: number;
  idleTimeoutMs: number;
  start: () => ForkServer;
  logger: Logger;
}

interface Waiting {
  give: (worker: Worker) => void;
  fail: (error: unknown) => void;
}

/** Workers parked ahead of demand, and the fork server they come from: started, restarted and retired here. */
export class Pool {
  readonly size: number;
  restarts = 0;
  busy = 0;
  #options: PoolOptions;
  #forkServer: ForkServer | undefined;
  #parked: Worker[] = [];
  #parking = 0;
  #waiting: Waiting[] = [];
  #failures = 0;
  #backoff: NodeJS.Timeout | undefined;
  #refill: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: PoolOptions, running?: ForkServer, first?: Worker) {
    this.#options = options;
    this.size = options.size;
    if (running) this.#adopt(running);
    if (first) this.#offer(first);
    this.#watchIdleness();
    this.#order();
  }

  get parked(): number {
    return this.#parked.length;
  }

  get parking(): number {
    return this.#parking;
  }

  get forkServers(): number {
    return this.#forkServer?.isAlive ? 1 : 0;
  }

  /** A parked worker at once, or the next one that is ready. */
  async take(signal?: AbortSignal): Promise<Worker> {
    if (this.#isClosed) throw new PungiError('INTERNAL_ERROR', 'Pungi is shutting down.');
    this.busy += 1;
    const ready = this.#parked.pop();
    if (ready) return ready;
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal?.reason);
      };
      const settled = () => signal?.removeEventListener('abort', abort);
      const waiting: Waiting = {
        give: (worker) => {
          settled();
          resolve(worker);
        },
        fail: (error) => {
          settled();
          reject(error);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(waiting);
      this.#order();
    });
  }

  /** Whoever took a worker is done, with or without one: time to park a successor. */
  release(): void {
    this.busy -= 1;
    this.#watchIdleness();
    this.#refillSoon();
  }

  #refillSoon(): void {
    this.#refill ??= setTimeout(() => {
      this.#refill = undefined;
      this.#order();
    }, REFILL_DELAY_MS);
  }

  /** Retired without failing anybody: parked workers go now, the fork server with the process that no longer needs it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of [this.#backoff, this.#refill, this.#idle]) clearTimeout(timer);
    for (const { fail } of this.#waiting.splice(0))
      fail(new PungiError('INTERNAL_ERROR', 'Pungi is shutting down.'));
    await this.#retire();
  }

  async #retire(): Promise<void> {
    const retired = this.#forkServer;
    this.#forkServer = undefined;
    for (const worker of this.#parked.splice(0)) worker.discard();
    await retired?.end();
  }

  #order(): void {
    if (this.#isClosed || this.#backoff) return;
    if (!this.#forkServer?.isAlive) this.#adopt(this.#options.start());
    const forkServer = this.#forkServer!;
    for (let missing = this.#missing(); missing > 0; missing -= 1) {
      this.#parking += 1;
      forkServer.park().then(
        (worker) => {
          this.#parking -= 1;
          this.#failures = 0;
          this.#offer(worker);
        },
        (error: Error) => {
          this.#parking -= 1;
          this.#recover(error);
        },
      );
    }
  }

  #missing(): number {
    return this.#waiting.length + this.size - this.#parked.length - this.#parking;
  }

  #adopt(forkServer: ForkServer): void {
    this.#forkServer = forkServer;
    forkServer.exited.then((reason) => {
      if (this.#forkServer !== forkServer || this.#isClosed) return;
      this.#forkServer = undefined;
      for (const worker of this.#parked.splice(0)) worker.discard();
      this.restarts += 1;
      this.#recover(new Error(reason));
    });
  }

  #offer(worker: Worker): void {
    if (this.#isClosed) {
      worker.discard();
      return;
    }
    const waiting = this.#waiting.shift();
    if (waiting) {
      waiting.give(worker);
      return;
    }
    worker.whenLost(() => {
      const index = this.#parked.indexOf(worker);
      if (index >= 0) this.#parked.splice(index, 1);
      this.#refillSoon();
    });
    this.#parked.push(worker);
  }

  /** After a failure the next order waits, twice as long each time; whoever waits for a worker is told after the third. */
  #recover(error: Error): void {
    if (this.#isClosed || this.#backoff) return;
    this.#failures += 1;
    this.#options.logger.error('A worker could not be parked', {
      reason: error.message,
      failures: this.#failures,
    });
    if (this.#failures >= 3) {
      const told = new PungiError('INTERNAL_ERROR', `No worker could be started: ${error.message}`);
      for (const { fail } of this.#waiting.splice(0)) fail(told);
    }
    const delay = Math.min(FIRST_BACKOFF_MS * 2 ** (this.#failures - 1), LONGEST_BACKOFF_MS);
    this.#backoff = setTimeout(() => {
      this.#backoff = undefined;
      this.#order();
    }, delay);
  }

  #watchIdleness(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      // Runs in flight live below the fork server; the last of them starts the clock anew.
      if (this.busy === 0) void this.#retire();
    }, this.#options.idleTimeoutMs);
    this.#idle.unref();
  }
}
