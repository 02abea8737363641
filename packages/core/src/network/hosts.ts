import { isIP } from 'node:net';
import { PungiError } from '../base/errors.js';

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

/** What one entry of a profile's list allows. */
export interface HostRule {
  kind: 'name' | 'below' | 'address';
  /** For `below`: the name whose subdomains are allowed, but not the name itself. */
  host: string;
  ports: readonly number[];
  /** The entry in canonical form. */
  text: string;
}

/** The ports of an entry that names none. */
export const USUAL_PORTS: readonly number[] = [80, 443];

/**
 * Parses "api.example.com", "*.example.com", "203.0.113.7" or "[2001:db8::1]", each with ":port" or for the ports 80
 * and 443.
 */
export function parseHostRule(text: string): HostRule {
  const entry = text.trim();
  const isBelow = entry.startsWith('*.');
  const named = isBelow ? entry.slice(2) : entry;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(entry))
    throw wrong(text, 'name the host alone, without https:// and path');
  if (/^[\d.]+\/\d+$|^\[?[\da-f:.]+\]?\/\d+$/i.test(entry))
    throw wrong(text, 'ranges cannot be given; name each address');
  if (named.includes('*'))
    throw wrong(text, '"*." can only stand at the beginning, before a name with a dot');
  if (/^[\da-f]*:[\da-f:.]*:[\da-f:.]*$/i.test(entry))
    throw wrong(text, 'an IPv6 address stands in brackets, as in [2001:db8::1]:443');
  const parsed = parseAuthority(named);
  if (!parsed)
    throw wrong(text, 'it must be a host such as api.example.com, *.example.com or api.example.com:8443');
  const { host, port } = parsed;
  checkSpelling(text, named, host, isBelow);
  const kind = isBelow ? 'below' : host.kind;
  const written = `${isBelow ? '*.' : ''}${writeHost(host)}${port === undefined ? '' : `:${port}`}`;
  return { kind, host: host.text, ports: port === undefined ? USUAL_PORTS : [port], text: written };
}

function checkSpelling(text: string, named: string, host: Host, isBelow: boolean): void {
  if (host.kind === 'address') {
    if (isBelow) throw wrong(text, 'there is nothing below an address');
    const spelled = named.replace(/(\]|^[^[\]]*?)(:\d+)?$/, '$1').toLowerCase();
    // A spelling such as 127.1 may not mean what its author expects.
    if (host.text.includes('.') && spelled !== host.text)
      throw wrong(text, `write the address as ${host.text}`);
    return;
  }
  if (host.text === 'localhost' || host.text.endsWith('.localhost'))
    throw wrong(text, 'names never lead to this machine itself; name its address, as in 127.0.0.1:8080');
  if (isBelow && !host.text.includes('.'))
    throw wrong(text, 'it would allow nearly every host; name a domain, as in *.example.com');
}

const wrong = (text: string, advice: string): PungiError =>
  new PungiError('INVALID_INPUT', `"${text.slice(0, 200)}" cannot be an allowed host: ${advice}.`, {
    host: text,
  });

/** Whether a rule allows this host and port. */
export function allows(rule: HostRule, host: Host, port: number): boolean {
  if (!rule.ports.includes(port)) return false;
  if (rule.kind === 'below') return host.kind === 'name' && host.text.endsWith(`.${rule.host}`);
  return rule.kind === host.kind && rule.host === host.text;
}
