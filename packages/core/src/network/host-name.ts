import { isIP } from 'node:net';

/** The host of an address: a name in lower case without its last dot, or an IP address in canonical form. */
export interface Host {
  kind: 'name' | 'address';
  /** An IPv6 address has no brackets. */
  text: string;
}

/** The destination of a request. */
export interface Target {
  host: Host;
  port: number;
}

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const LONGEST_NAME = 253;

/**
 * Parses a host as browsers do, so that every spelling of an address (2130706433, 0x7f.1, 0177.0.0.1) is that address
 * and not a name to resolve. Returns undefined if it is neither a name nor an address.
 */
export function parseHost(text: string): Host | undefined {
  // Characters that would end the host in a URL, or are removed from it.
  if (text === '' || /[\s/\\?#@%<>^|\0-\x20\x7f]/.test(text)) return undefined;
  if (text.includes(':') && !text.startsWith('[')) return undefined;
  if (!URL.canParse(`http://${text}/`)) return undefined;
  const { hostname, port, username } = new URL(`http://${text}/`);
  if (port !== '' || username !== '') return undefined;
  const bare = hostname.replace(/^\[|\]$/g, '');
  if (isIP(bare) !== 0) return { kind: 'address', text: bare };
  const name = bare.replace(/\.$/, '');
  const isName = name.length <= LONGEST_NAME && name.split('.').every((label) => LABEL.test(label));
  return isName ? { kind: 'name', text: name } : undefined;
}

const AUTHORITY = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/;

/** Parses "host" or "host:port". */
export function parseAuthority(text: string): { host: Host; port: number | undefined } | undefined {
  const [, hostText = '', portText] = AUTHORITY.exec(text) ?? [];
  const host = parseHost(hostText);
  const port = portText === undefined ? undefined : Number(portText);
  if (!host || port === 0 || (port ?? 0) > 65_535) return undefined;
  return { host, port };
}

/** Formats a host for an address. */
export const writeHost = ({ text }: Host): string => (isIP(text) === 6 ? `[${text}]` : text);

export const writeTarget = ({ host, port }: Target): string => `${writeHost(host)}:${port}`;
