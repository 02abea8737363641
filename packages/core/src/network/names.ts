import type { LookupAddress } from 'node:dns';
import { FairTurns } from './fair-turns.js';
import type { Lookup } from './lookup.js';
import { Refusal } from './refusal.js';

const LOOKUPS_AT_A_TIME = 32;
/** A run whose names resolve slowly delays itself, not others. */
const LOOKUPS_OF_ONE_RUN = 2;
/** Long enough for the many connections that a client opens at once. */
const KEPT_MS = 5000;
const MOST_KEPT = 1000;

interface Kept {
  addresses: LookupAddress[];
  until: number;
}

/** Resolves names, fairly between runs, and caches results for a moment. One for the whole server. */
export class Names {
  readonly #turns = new FairTurns(LOOKUPS_AT_A_TIME, LOOKUPS_OF_ONE_RUN);
  readonly #kept = new Map<string, Kept>();

  constructor(
    private readonly lookup: Lookup,
    private readonly timeoutMs: number,
  ) {}

  /** `givenUp` rejects it with the signal's reason. */
  async find(name: string, asker: object, givenUp: AbortSignal): Promise<LookupAddress[]> {
    const kept = this.#recall(name);
    if (kept) return kept;
    const late = new Refusal(504, `The name ${name} was not found in time.`);
    const end = new AbortController();
    const giveUp = () => end.abort(givenUp.reason);
    const timer = setTimeout(() => end.abort(late), this.timeoutMs);
    givenUp.addEventListener('abort', giveUp, { once: true });
    if (givenUp.aborted) giveUp();
    try {
      return await this.#turns.take(asker, end.signal, () => this.#ask(name, end.signal));
    } catch {
      throw end.signal.aborted
        ? end.signal.reason
        : new Refusal(502, `The name ${name} could not be resolved.`);
    } finally {
      clearTimeout(timer);
      givenUp.removeEventListener('abort', giveUp);
    }
  }

  async #ask(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
    // Another lookup of the same name may have ended during the wait.
    const kept = this.#recall(name);
    if (kept) return kept;
    const addresses = await this.lookup(name, signal);
    if (addresses.length === 0) throw new Error('no addresses');
    this.#keep(name, addresses);
    return addresses;
  }

  #recall(name: string): LookupAddress[] | undefined {
    const kept = this.#kept.get(name);
    return kept && kept.until > performance.now() ? kept.addresses : undefined;
  }

  #keep(name: string, addresses: LookupAddress[]): void {
    this.#kept.delete(name);
    this.#kept.set(name, { addresses, until: performance.now() + KEPT_MS });
    // The oldest is first.
    for (const [oldest, { until }] of this.#kept) {
      if (this.#kept.size <= MOST_KEPT && until > performance.now()) break;
      this.#kept.delete(oldest);
    }
  }
}
