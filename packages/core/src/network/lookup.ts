import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** Rejects when the name is not found, or given up by the signal. */
export type Lookup = (name: string, signal: AbortSignal) => Promise<LookupAddress[]>;

const HOSTS_FILE = '/etc/hosts';
/** Twice as long the second time, for each name server. */
const FIRST_TRY_MS = 2000;
const TRIES = 2;

/**
 * Finds a whole name in the hosts file or by the name servers of this machine. The system's own function would hold one of
 * two threads for as long as somebody's name server does not answer, and could not be stopped.
 */
export const lookUp: Lookup = async (name, signal) => {
  const own = findInHosts(await readFile(HOSTS_FILE, 'utf8').catch(() => ''), name);
  signal.throwIfAborted();
  return own.length > 0 ? own : askNameServers(name, signal);
};

async function askNameServers(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
  // One for each question: it reads which name servers there are now, and what is cancelled is this question alone.
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

/** Addresses that a hosts file gives to a name in lower case. */
export function findInHosts(file: string, name: string): LookupAddress[] {
  return file.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const isNamed = names.some((one) => one.toLowerCase().replace(/\.$/, '') === name);
    return isNamed && isIP(address) !== 0 ? [toAddress(address)] : [];
  });
}

const toAddress = (address: string): LookupAddress => ({ address, family: isIP(address) });
