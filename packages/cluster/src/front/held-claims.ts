import { MOST_HELD } from '../protocol/messages.js';
import { keyOf, type WorkerKey } from '../protocol/subjects.js';
import { KEEP_MS } from '../protocol/timing.js';

interface There {
  worker: WorkerKey;
  claims: Set<string>;
}

/**
 * The claims of a front end's sessions. It names them to their workers from time to time: an order to end one may be lost, and the worker
 * then ends it because nobody names it.
 */
export class HeldClaims {
  readonly #held = new Map<string, There>();
  readonly #naming = setInterval(() => this.#name(), KEEP_MS);

  constructor(private readonly send: (worker: WorkerKey, claims: string[]) => void) {}

  set({ worker, incarnation, claim }: WorkerKey & { claim: string }, isHeld: boolean): void {
    const key = keyOf({ worker, incarnation });
    const there = this.#held.get(key);
    if (isHeld && there === undefined)
      this.#held.set(key, { worker: { worker, incarnation }, claims: new Set([claim]) });
    else if (isHeld) there!.claims.add(claim);
    else if (there?.claims.delete(claim) && there.claims.size === 0) this.#held.delete(key);
  }

  close(): void {
    clearInterval(this.#naming);
  }

  #name(): void {
    for (const { worker, claims } of this.#held.values()) {
      const all = [...claims];
      for (let at = 0; at < all.length; at += MOST_HELD) this.send(worker, all.slice(at, at + MOST_HELD));
    }
  }
}
