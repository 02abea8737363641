import { PungiError } from '../base/errors.js';

interface Waiting {
  start: () => void;
  memoryMb: number;
}

/**
 * Lets a bounded number of runs go at once and a bounded number wait; between clients, turns are taken. A run also waits while
 * it and the active ones could together use more than `totalMemoryMb`; then only who needs none of that memory overtakes it.
 */
export class FairQueue {
  #totalMemoryMb = Number.POSITIVE_INFINITY;
  #active = 0;
  #activeMb = 0;
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

  set totalMemoryMb(most: number) {
    this.#totalMemoryMb = most;
    this.#startNext();
  }

  /** Resolves to the function that gives the slot back. Throws SERVER_BUSY when too many wait already. */
  async enter(client: string, signal?: AbortSignal, wantedMb = 0): Promise<() => void> {
    signal?.throwIfAborted();
    // What is more than all may use runs alone.
    const memoryMb = Math.min(wantedMb, this.#totalMemoryMb);
    if ((this.#waiting === 0 || memoryMb === 0) && this.#hasRoom(memoryMb)) this.#take(memoryMb);
    else await this.#wait(client, memoryMb, signal);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#active -= 1;
      this.#activeMb -= memoryMb;
      this.#startNext();
    };
  }

  #hasRoom(memoryMb: number): boolean {
    return this.#active < this.slots && this.#activeMb + memoryMb <= this.#totalMemoryMb;
  }

  #take(memoryMb: number): void {
    this.#active += 1;
    this.#activeMb += memoryMb;
  }

  #wait(client: string, memoryMb: number, signal?: AbortSignal): Promise<void> {
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
        // It may have been the one that the others waited behind.
        this.#startNext();
        reject(signal?.reason);
      };
      const entry: Waiting = {
        memoryMb,
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
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const [client, entry] = next;
      this.#leave(client, entry);
      // A client that had its turn goes to the end of the round.
      const line = this.#clients.get(client);
      this.#clients.delete(client);
      if (line !== undefined) this.#clients.set(client, line);
      this.#take(entry.memoryMb);
      entry.start();
    }
  }

  /** Whose turn it is, or who needs no memory while that one waits for its own. */
  #next(): [client: string, entry: Waiting] | undefined {
    let isFirst = true;
    for (const [client, line] of this.#clients) {
      for (const entry of line) {
        if ((isFirst || entry.memoryMb === 0) && this.#hasRoom(entry.memoryMb)) return [client, entry];
        isFirst = false;
      }
    }
    return undefined;
  }
}
