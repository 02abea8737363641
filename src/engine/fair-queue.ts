import { PungiError } from '../base/errors.js';

interface Waiting {
  start: () => void;
}

/** Lets a bounded number of runs go at once and a bounded number wait; between clients, turns are taken. */
export class FairQueue {
  #active = 0;
  #waiting = 0;
  #clients = new Map<string, Waiting[]>();

  constructor(
    private readonly slots: number,
    readonly capacity: number,
  ) {}

  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves to the function that gives the slot back. Throws SERVER_BUSY when too many wait already. */
  async enter(client: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#active < this.slots) this.#active += 1;
    else await this.#wait(client, signal);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#active -= 1;
      this.#startNext();
    };
  }

  #wait(client: string, signal?: AbortSignal): Promise<void> {
    if (this.#waiting >= this.capacity) {
      throw new PungiError(
        'SERVER_BUSY',
        `${this.#active} runs are active and ${this.#waiting} are waiting, which is as many as may; try again shortly.`,
        { queued: this.#waiting },
      );
    }
    return new Promise((resolve, reject) => {
      const line = this.#clients.get(client) ?? [];
      const abort = () => {
        this.#leave(client, entry);
        reject(signal?.reason);
      };
      const entry: Waiting = {
        start: () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        },
      };
      line.push(entry);
      this.#clients.set(client, line);
      this.#waiting += 1;
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  #leave(client: string, entry: Waiting): void {
    const line = this.#clients.get(client) ?? [];
    line.splice(line.indexOf(entry), 1);
    if (line.length === 0) this.#clients.delete(client);
    this.#waiting -= 1;
  }

  #startNext(): void {
    const next = this.#clients.entries().next();
    if (next.done) return;
    const [client, line] = next.value;
    const entry = line[0]!;
    this.#leave(client, entry);
    // A client that had its turn goes to the end of the round.
    this.#clients.delete(client);
    if (line.length > 0) this.#clients.set(client, line);
    this.#active += 1;
    entry.start();
  }
}
