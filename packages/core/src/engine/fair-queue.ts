import { PungiError } from '../base/errors.js';

interface Waiting {
  start: () => void;
  refuse: (error: PungiError) => void;
  memoryMb: number;
}

/**
 * Bounds the number of active and of waiting runs; clients take turns. No client has more than `slotsPerClient`
 * active runs, and if the queue is full, the client with the most waiting runs loses its last one. A run also waits
 * while it and the active ones could together use more than `totalMemoryMb`; then only runs that need none of that
 * memory overtake it.
 */
export class FairQueue {
  #totalMemoryMb = Number.POSITIVE_INFINITY;
  #active = 0;
  #activeMb = 0;
  #waiting = 0;
  #activeOf = new Map<string, number>();
  #clients = new Map<string, Waiting[]>();

  constructor(
    private readonly slots: number,
    readonly capacity: number,
    private readonly slotsPerClient = slots,
  ) {}

  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** None if others wait. */
  get freeSlots(): number {
    return this.#waiting > 0 ? 0 : this.slots - this.#active;
  }

  set totalMemoryMb(most: number) {
    this.#totalMemoryMb = most;
    this.#startNext();
  }

  /** Resolves to a function that frees the slot. Throws SERVER_BUSY if too many are waiting. */
  async enter(client: string, signal?: AbortSignal, wantedMb = 0): Promise<() => void> {
    signal?.throwIfAborted();
    // A run that may use more than the total runs alone.
    const memoryMb = Math.min(wantedMb, this.#totalMemoryMb);
    if ((memoryMb === 0 || !this.#hasWaitingForMemory()) && this.#hasRoom(client, memoryMb))
      this.#take(client, memoryMb);
    else await this.#wait(client, memoryMb, signal);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count(client, -1);
      this.#activeMb -= memoryMb;
      this.#startNext();
    };
  }

  #hasRoom(client: string, memoryMb: number): boolean {
    const hasSlot = this.#active < this.slots && !this.#hasItsSlots(client);
    return hasSlot && this.#activeMb + memoryMb <= this.#totalMemoryMb;
  }

  #hasItsSlots(client: string): boolean {
    return (this.#activeOf.get(client) ?? 0) >= this.slotsPerClient;
  }

  /** A client that waits only for its own slots does not block others. */
  #hasWaitingForMemory(): boolean {
    return [...this.#clients.keys()].some((client) => !this.#hasItsSlots(client));
  }

  #take(client: string, memoryMb: number): void {
    this.#count(client, 1);
    this.#activeMb += memoryMb;
  }

  #count(client: string, change: 1 | -1): void {
    this.#active += change;
    const active = (this.#activeOf.get(client) ?? 0) + change;
    if (active === 0) this.#activeOf.delete(client);
    else this.#activeOf.set(client, active);
  }

  /**
   * Keeps a client that fills the queue from excluding others: its last run makes room for the first few of others.
   */
  #makeRoomFor(client: string): void {
    const busy = new PungiError(
      'SERVER_BUSY',
      `${this.#active} runs are active and ${this.#waiting} are waiting, which is the limit; try again shortly.`,
      { queued: this.#waiting },
    );
    const [longest, line] = [...this.#clients].reduce<[string, Waiting[]]>(
      (most, one) => (one[1].length > most[1].length ? one : most),
      ['', []],
    );
    const own = this.#clients.get(client)?.length ?? 0;
    const last = line.at(-1);
    if (last === undefined || line.length <= own + 1) throw busy;
    this.#leave(longest, last);
    last.refuse(busy);
  }

  #wait(client: string, memoryMb: number, signal?: AbortSignal): Promise<void> {
    if (this.#waiting >= this.capacity) this.#makeRoomFor(client);
    return new Promise((resolve, reject) => {
      const line = this.#clients.get(client) ?? [];
      const abort = () => {
        this.#leave(client, entry);
        // The others may have waited behind it.
        this.#startNext();
        reject(signal?.reason);
      };
      const entry: Waiting = {
        memoryMb,
        start: () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        },
        refuse: (error) => {
          signal?.removeEventListener('abort', abort);
          reject(error);
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
      this.#take(client, entry.memoryMb);
      entry.start();
    }
  }

  /** Returns the next run, or one that needs no memory while the next one waits for memory. */
  #next(): [client: string, entry: Waiting] | undefined {
    let isFirst = true;
    for (const [client, line] of this.#clients) {
      if (this.#hasItsSlots(client)) continue;
      for (const entry of line) {
        if ((isFirst || entry.memoryMb === 0) && this.#hasRoom(client, entry.memoryMb))
          return [client, entry];
        isFirst = false;
      }
    }
    return undefined;
  }
}
