import type { LookupAddress } from 'node:dns';
import { BlockList, connect, isIP, isIPv4, type Socket } from 'node:net';
import { allows, type HostRule, type Target, USUAL_PORTS, writeHost, writeTarget } from './hosts.js';
import type { Names } from './names.js';
import type { Timeouts } from './proxy-server.js';
import { Refusal } from './refusal.js';
import type { RunConnections } from './run-connections.js';

const RULES_SHOWN = 8;

/** Decides which hosts may be reached, and at which addresses. */
export class Policy {
  constructor(
    private readonly rules: readonly HostRule[],
    private readonly names: Names,
    readonly timeouts: Timeouts,
  ) {}

  /**
   * Returns the addresses to connect to, all of them checked; the caller must not resolve the name again. `givenUp`
   * rejects it with the signal's reason.
   */
  async addressesOf(target: Target, asker: object, givenUp: AbortSignal): Promise<LookupAddress[]> {
    const { host } = target;
    if (!this.#allows(target)) throw this.#notListed(target);
    if (host.kind === 'address') return [{ address: host.text, family: isIP(host.text) }];
    const found = await this.names.find(host.text, asker, givenUp);
    for (const { address } of found) this.#check(target, address);
    return found;
  }

  #allows({ host, port }: Target): boolean {
    return this.rules.some((rule) => allows(rule, host, port));
  }

  /** One private address is enough to refuse: the name server decides which one would be used. */
  #check({ host, port }: Target, address: string): void {
    const why = whyForbidden(address);
    const literal: Target = { host: { kind: 'address', text: address }, port };
    if (why === undefined || this.#allows(literal)) return;
    throw new Refusal(
      403,
      `${host.text} leads to ${address}, ${why}, which no name may lead to. If it is meant, list "${writeTarget(literal)}" in the profile's network.allow as well.`,
    );
  }

  #notListed(target: Target): Refusal {
    const asked = writeTarget(target);
    const shown = this.rules.slice(0, RULES_SHOWN).map(({ text }) => text);
    const more = this.rules.length - shown.length;
    const listed = `${shown.join(', ') || 'nothing'}${more > 0 ? ` and ${more} more` : ''}`;
    return new Refusal(
      403,
      `The profile does not allow ${asked}; its network.allow lists ${listed}. Add "${entryFor(target)}" there to reach it.`,
    );
  }
}

const entryFor = (target: Target) =>
  USUAL_PORTS.includes(target.port) ? writeHost(target.host) : writeTarget(target);

/**
 * Networks that no name may resolve to, each with its description: private networks, and IPv4 addresses embedded in
 * IPv6.
 */
const SPECIAL: [network: string, what: string][] = [
  ['0.0.0.0/8', 'an address of this machine itself'],
  ['10.0.0.0/8', 'a private address'],
  ['100.64.0.0/10', 'an address inside of a provider'],
  ['127.0.0.0/8', 'a loopback address'],
  ['169.254.0.0/16', 'a link-local address'],
  ['172.16.0.0/12', 'a private address'],
  ['192.0.0.0/24', 'a special address'],
  ['192.0.2.0/24', 'an address for documentation'],
  ['192.31.196.0/24', 'a special address'],
  ['192.52.193.0/24', 'a special address'],
  ['192.88.99.0/24', 'a 6to4 relay'],
  ['192.168.0.0/16', 'a private address'],
  ['192.175.48.0/24', 'a special address'],
  ['198.18.0.0/15', 'an address for benchmarks'],
  ['198.51.100.0/24', 'an address for documentation'],
  ['203.0.113.0/24', 'an address for documentation'],
  ['224.0.0.0/4', 'a multicast address'],
  ['240.0.0.0/4', 'a reserved address'],
  ['::/96', 'an address of this machine itself, or an IPv4 address within one of IPv6'],
  ['::ffff:0:0/96', 'an IPv4 address within one of IPv6'],
  ['::ffff:0:0:0/96', 'an IPv4 address within one of IPv6'],
  ['64:ff9b::/96', 'an IPv4 address within one of IPv6'],
  ['64:ff9b:1::/48', 'an IPv4 address within one of IPv6'],
  ['100::/64', 'an address that leads nowhere'],
  ['2001::/23', 'a special address'],
  ['2001:db8::/32', 'an address for documentation'],
  ['2002::/16', 'an IPv4 address within one of IPv6'],
  ['2620:4f:8000::/48', 'a special address'],
  ['3fff::/20', 'an address for documentation'],
  ['5f00::/16', 'a special address'],
  ['fc00::/7', 'a private address'],
  ['fe80::/10', 'a link-local address'],
  ['fec0::/10', 'a private address'],
  ['ff00::/8', 'a multicast address'],
];

const LISTS = SPECIAL.map(([network, what]) => {
  const [base = '', bits = ''] = network.split('/');
  const list = new BlockList();
  list.addSubnet(base, Number(bits), isIPv4(base) ? 'ipv4' : 'ipv6');
  return { list, what, isV4: isIPv4(base) };
});

/** All global IPv6 addresses are below this prefix, so far. */
const GLOBAL_V6 = new BlockList();
GLOBAL_V6.addSubnet('2000::', 3, 'ipv6');

/** Returns why no name may resolve to this address, or undefined for addresses of the internet. */
export function whyForbidden(address: string): string | undefined {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return 'no address';
  // An IPv6 list would also match embedded IPv4 addresses, so each list is used for its own family only.
  const found = LISTS.find(
    ({ list, isV4 }) => isV4 === (family === 4) && list.check(address, isV4 ? 'ipv4' : 'ipv6'),
  );
  if (found) return found.what;
  return family === 6 && !GLOBAL_V6.check(address, 'ipv6') ? 'a reserved address' : undefined;
}

/**
 * Decides whether a request of a run may proceed, records the decision, and connects. The signal cuts the connection.
 */
export async function reach(
  target: Target,
  policy: Policy,
  run: RunConnections,
  givenUp: AbortSignal,
): Promise<Socket> {
  const addresses = await decide(target, policy, run, givenUp);
  givenUp.throwIfAborted();
  const socket = open(target, addresses);
  run.hold(socket);
  givenUp.addEventListener('abort', () => socket.destroy(), { once: true });
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Refusal(504, `${writeTarget(target)} did not answer in time.`)),
      policy.timeouts.connect,
    );
    socket.once('connect', resolve);
    socket.once('close', () => reject(new Refusal(502, `${writeTarget(target)} could not be reached.`)));
    socket.once('connect', () => clearTimeout(timer));
    socket.once('close', () => clearTimeout(timer));
  }).catch((error) => {
    socket.destroy();
    throw error;
  });
  return socket;
}

async function decide(
  target: Target,
  policy: Policy,
  run: RunConnections,
  givenUp: AbortSignal,
): Promise<LookupAddress[]> {
  try {
    const addresses = await policy.addressesOf(target, run, givenUp);
    run.record(target, null);
    return addresses;
  } catch (error) {
    if (error instanceof Refusal) run.record(target, error.message);
    throw error;
  }
}

/** Connects to the checked addresses, one after the other. */
function open({ host, port }: Target, addresses: LookupAddress[]): Socket {
  const socket = connect({
    host: host.text,
    port,
    allowHalfOpen: true,
    autoSelectFamily: true,
    lookup: (_name, { all }, answer) => {
      if (all) answer(null, addresses);
      else answer(null, addresses[0]!.address, addresses[0]!.family);
    },
  });
  socket.on('error', () => socket.destroy());
  return socket;
}
