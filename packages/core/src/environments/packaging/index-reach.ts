import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { authorization, bareHost, type Environment, proxyFor, usualPort } from './machine-proxy.js';

const TIMEOUT_MS = 2000;
/** What a proxy answers when it cannot get through itself. */
const NO_WAY_THROUGH = new Set([502, 503, 504]);

/** Those of the addresses whose hosts do not answer at all. What they would say is not asked. */
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
