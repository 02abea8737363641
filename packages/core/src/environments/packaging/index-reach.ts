import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';

const TIMEOUT_MS = 2000;
/** The status codes of a proxy that cannot reach the host. */
const NO_WAY_THROUGH = new Set([502, 503, 504]);

/** Returns the hosts that do not answer at all. The content of answers does not matter. */
export async function findUnreachable(addresses: string[], env: Environment): Promise<string[]> {
  const understood = addresses.filter((address) => URL.canParse(address));
  const origins = [...new Set(understood.map((address) => new URL(address).origin))];
  const reached = await Promise.all(origins.map((origin) => isReachable(new URL(origin), env)));
  return origins.filter((_, index) => !reached[index]).map((origin) => new URL(origin).host);
}

function isReachable(target: URL, env: Environment): Promise<boolean> {
  const proxy = proxyFor(target, env);
  if (proxy === undefined) return answersAt(target);
  return /^https?:$/.test(proxy.protocol) ? passesThrough(proxy, target) : answersAt(proxy);
}

function answersAt({ protocol, hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: bareHost(hostname), port: Number(port) || usualPort(protocol) });
    const end = (reached: boolean) => {
      socket.destroy();
      resolve(reached);
    };
    socket.setTimeout(TIMEOUT_MS, () => end(false));
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

function passesThrough(proxy: URL, target: URL): Promise<boolean> {
  const isTunnel = target.protocol === 'https:';
  const open = proxy.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const request = open({
      host: bareHost(proxy.hostname),
      port: Number(proxy.port) || usualPort(proxy.protocol),
      method: isTunnel ? 'CONNECT' : 'HEAD',
      path: isTunnel ? `${target.hostname}:${Number(target.port) || 443}` : target.href,
      headers: { host: target.host, ...authorization('proxy-authorization', proxy) },
      timeout: TIMEOUT_MS,
    });
    const end = (status: number | undefined) => {
      request.destroy();
      resolve(status !== undefined && !NO_WAY_THROUGH.has(status));
    };
    request
      .once('connect', ({ statusCode }, socket) => {
        socket.destroy();
        end(statusCode);
      })
      .once('response', ({ statusCode }) => end(statusCode))
      .once('timeout', () => end(undefined))
      .on('error', () => end(undefined))
      .end();
  });
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the proxy for a URL according to the usual variables (http_proxy, no_proxy, …). */
export function proxyFor(target: URL, env: Environment): URL | undefined {
  const find = (name: string) => env[name] || env[name.toUpperCase()] || undefined;
  const address = find(`${target.protocol.slice(0, -1)}_proxy`) ?? find('all_proxy');
  if (!address || isExempt(target, find('no_proxy') ?? '')) return undefined;
  const text = /^\w+:\/\//.test(address) ? address : `http://${address}`;
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Reads no_proxy as curl and uv do: each name includes its subdomains, and `*` matches every host. */
function isExempt(url: URL, list: string): boolean {
  const host = bareHost(url.hostname);
  const names = list.split(/[\s,]+/).map((name) => name.toLowerCase());
  return names.some((name) => {
    if (name === '*') return true;
    const [, plain = '', port] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(name) ?? [];
    if (plain === '' || (port !== undefined && port !== (url.port || String(usualPort(url.protocol)))))
      return false;
    return host === plain || host.endsWith(`.${plain}`);
  });
}

/** Returns an authorization header for the credentials in a URL, if it has any. */
export function authorization(header: string, { username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${decode(username)}:${decode(password)}`;
  return { [header]: `Basic ${Buffer.from(text).toString('base64')}` };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const usualPort = (protocol: string) => ({ 'https:': 443, 'http:': 80 })[protocol] ?? 1080;

/** Removes the brackets that an IPv6 address has in a URL. */
export const bareHost = (hostname: string) => hostname.replace(/^\[|\]$/g, '');
