import { readFileSync } from 'node:fs';
import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { PungiError } from '../../../base/errors.js';
import { authorization, bareHost, type Environment, proxyFor } from '../index-reach.js';
import { isAddress } from '../uv-settings.js';

const CERTIFICATE_FILES = ['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE'];
const MOST_CONNECTIONS = 32;

interface Route {
  send: typeof requestHttp;
  agent: HttpAgent;
  hostname: string;
  port: string;
  path: string;
  headers: Record<string, string>;
}

/** Opens connections as the user's machine does: directly or through a proxy, with its certificates. */
export class Outbound {
  readonly #env: Environment;
  readonly #ca: string | undefined;
  readonly #agents = new Map<string, HttpAgent>();

  constructor(env: Environment) {
    this.#env = env;
    this.#ca = readCertificates(env);
  }

  /** Returns the request options for a URL. A proxy gets the whole URL for plain HTTP, and CONNECT for HTTPS. */
  route(url: URL): Route {
    const proxy = this.#proxyFor(url);
    const path = `${url.pathname}${url.search}`;
    const headers = { host: url.host };
    if (!proxy || url.protocol === 'https:') return { ...this.#via(url, proxy), path, headers };
    return {
      ...this.#via(proxy),
      path: `http://${url.host}${path}`,
      headers: { ...headers, ...authorization('proxy-authorization', proxy) },
    };
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  #via({ protocol, hostname, port }: URL, tunnel?: URL): Omit<Route, 'path' | 'headers'> {
    const send = protocol === 'https:' ? requestHttps : requestHttp;
    return { send, agent: this.#agent(protocol, tunnel), hostname: bareHost(hostname), port };
  }

  #agent(protocol: string, proxy?: URL): HttpAgent {
    const key = `${protocol}${proxy?.href ?? ''}`;
    let agent = this.#agents.get(key);
    if (!agent) {
      const options = { keepAlive: true, maxSockets: MOST_CONNECTIONS, ...(this.#ca && { ca: this.#ca }) };
      if (proxy) agent = new TunnelAgent(proxy, options);
      else agent = protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
      this.#agents.set(key, agent);
    }
    return agent;
  }

  #proxyFor(url: URL): URL | undefined {
    const proxy = proxyFor(url, this.#env);
    if (proxy === undefined || isAddress(proxy.href)) return proxy;
    throw new PungiError(
      'CONFIGURATION_ERROR',
      `The proxy for ${url.protocol.slice(0, -1)} addresses must be given as http://HOST:PORT or https://HOST:PORT to build source distributions and to fetch uv.`,
    );
  }
}

/** Reaches HTTPS URLs through a proxy, with CONNECT. */
class TunnelAgent extends HttpsAgent {
  readonly #proxy: URL;

  constructor(proxy: URL, options: object) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(
    options: { host: string; port: number; ca?: string },
    done: (error: Error | null, socket?: Duplex) => void,
  ): undefined {
    const target = `${options.host}:${options.port || 443}`;
    const request = this.#proxy.protocol === 'https:' ? requestHttps : requestHttp;
    const asked = request({
      method: 'CONNECT',
      hostname: bareHost(this.#proxy.hostname),
      port: this.#proxy.port,
      path: target,
      headers: { host: target, ...authorization('proxy-authorization', this.#proxy) },
      ...(options.ca && { ca: options.ca }),
    });
    asked.once('connect', ({ statusCode }, socket) => {
      if (statusCode === 200)
        return done(null, connectTls({ ...options, socket, ALPNProtocols: ['http/1.1'] }));
      socket.destroy();
      done(new Error(`the proxy answered ${statusCode}`));
    });
    asked.once('error', done);
    asked.end();
  }
}

function readCertificates(env: Environment): string | undefined {
  const name = CERTIFICATE_FILES.find((each) => env[each]);
  if (name === undefined) return undefined;
  try {
    return readFileSync(env[name]!, 'utf8');
  } catch (error) {
    throw new PungiError('CONFIGURATION_ERROR', `${name} names a file that cannot be read.`, {}, error);
  }
}
