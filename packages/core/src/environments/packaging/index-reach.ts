import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';

const PATIENCE_MS = 2000;
/** What a proxy answers when it cannot get through itself. */
const NO_WAY_THROUGH = new Set([502, 503, 504]);

/** Those of the addresses whose hosts do not answer at all. What they would say is not asked. */
export async function findUnreachable(addresses: string[], env: Record<string, string>): Promise<string[]> {
  const understood = addresses.filter((address) => URL.canParse(address));
  const origins = [...new Set(understood.map((address) => new URL(address).origin))];
  const reached = await Promise.all(origins.map((origin) => isReachable(new URL(origin), env)));
  return origins.filter((_, index) => !reached[index]).map((origin) => new URL(origin).host);
}

function isReachable(target: URL, env: Record<string, string>): Promise<boolean> {
  const proxy = proxyFor(target, env);
  if (proxy === undefined) return answersAt(target);
  return /^https?:$/.test(proxy.protocol) ? passesThrough(proxy, target) : answersAt(proxy);
}

function answersAt({ protocol, hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: bare(hostname), port: Number(port) || usualPort(protocol) });
    const end = (reached: boolean) => {
      socket.destroy();
      resolve(reached);
    };
    socket.setTimeout(PATIENCE_MS, () => end(false));
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

function passesThrough(proxy: URL, target: URL): Promise<boolean> {
  const isTunnel = target.protocol === 'https:';
  const open = proxy.protocol === 'https:' ? httpsRequest : httpRequest;
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return new Promise((resolve) => {
    const request = open({
      host: bare(proxy.hostname),
      port: Number(proxy.port) || usualPort(proxy.protocol),
      method: isTunnel ? 'CONNECT' : 'HEAD',
      path: isTunnel ? `${target.hostname}:${Number(target.port) || 443}` : target.href,
      headers: {
        host: target.host,
        ...(proxy.username && { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }),
      },
      timeout: PATIENCE_MS,
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

/** The proxy that tools of the field use for an address. */
export function proxyFor(target: URL, env: Record<string, string>): URL | undefined {
  const find = (name: string) => env[name.toLowerCase()] || env[name];
  const scheme = target.protocol.slice(0, -1).toUpperCase();
  const address = find(`${scheme}_PROXY`) ?? find('ALL_PROXY');
  if (!address || isExcepted(target.hostname, find('NO_PROXY') ?? '')) return undefined;
  const text = /^\w+:\/\//.test(address) ? address : `http://${address}`;
  return URL.canParse(text) ? new URL(text) : undefined;
}

function isExcepted(host: string, list: string): boolean {
  return list
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const domain = entry.replace(/^\*?\./, '');
      return entry === '*' || host === domain || host.endsWith(`.${domain}`);
    });
}

const usualPort = (protocol: string) => ({ 'https:': 443, 'http:': 80 })[protocol] ?? 1080;

/** An IPv6 address stands in brackets only in a URL. */
const bare = (host: string) => host.replace(/^\[|\]$/g, '');
