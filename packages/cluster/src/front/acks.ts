import { MOST_RECEIVED, type Received } from '../protocol/messages.js';
import { keyOf, type WorkerKey } from '../protocol/subjects.js';

/** Well below the time after which a worker sends again what was not acknowledged. */
const GATHER_MS = 100;

interface Owed {
  worker: WorkerKey;
  received: Received[];
}

/** Acknowledgements that nobody waits for: they travel with the next order to their worker, or together after a moment. */
export class Acks {
  readonly #owed = new Map<string, Owed>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly send: (worker: WorkerKey, received: Received[]) => void) {}

  add(worker: WorkerKey, received: Received): void {
    const key = keyOf(worker);
    const owed = this.#owed.get(key) ?? { worker, received: [] };
    this.#owed.set(key, owed);
    owed.received.push(received);
    if (owed.received.length >= MOST_RECEIVED) this.send(worker, this.take(worker)!);
    else this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  /** Takes those of a worker out, for the caller to send. */
  take(worker: WorkerKey): Received[] | undefined {
    const key = keyOf(worker);
    const owed = this.#owed.get(key);
    this.#owed.delete(key);
    return owed?.received;
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { worker } of [...this.#owed.values()]) this.send(worker, this.take(worker)!);
  }
}
