import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

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
