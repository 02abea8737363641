import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { FairTurns } from './fair-turns.js';
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

/** Rejects if the name is not found, or if the signal is aborted. */
export type Lookup = (name: string, signal: AbortSignal) => Promise<LookupAddress[]>;

const HOSTS_FILE = '/etc/hosts';
/** Timeout of the first try; twice as long for the second, for each name server. */
const FIRST_TRY_MS = 2000;
const TRIES = 2;

/**
 * Resolves a full name with the hosts file or the name servers of this machine. The system's function would block one
 * of two threads for as long as a name server does not answer, and cannot be cancelled.
 */
export const lookUp: Lookup = async (name, signal) => {
  const own = findInHosts(await readFile(HOSTS_FILE, 'utf8').catch(() => ''), name);
  signal.throwIfAborted();
  return own.length > 0 ? own : askNameServers(name, signal);
};

async function askNameServers(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
  // One resolver per query: it reads the current name servers, and cancelling affects only this query.
  const resolver = new Resolver({ timeout: FIRST_TRY_MS, tries: TRIES });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length === 0 && answers[0].status === 'rejected') throw answers[0].reason;
    return found.map(toAddress);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Returns the addresses of a lower-case name in a hosts file. */
export function findInHosts(file: string, name: string): LookupAddress[] {
  return file.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const isNamed = names.some((one) => one.toLowerCase().replace(/\.$/, '') === name);
    return isNamed && isIP(address) !== 0 ? [toAddress(address)] : [];
  });
}

const toAddress = (address: string): LookupAddress => ({ address, family: isIP(address) });
