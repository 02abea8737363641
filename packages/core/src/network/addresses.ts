import { BlockList, isIP, isIPv4 } from 'node:net';

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
