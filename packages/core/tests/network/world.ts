import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from '../../../../tests/support/until.js';
import type { Lookup } from '../../src/network/names.js';
import { Network, type NetworkDoor } from '../../src/network/network.js';
import { TIMEOUTS, type Timeouts } from '../../src/network/proxy-server.js';
import type { NetworkDecision } from '../../src/network/run-connections.js';
import { makeCertificate } from './certificate.js';
import { type Answers, lookupIn } from './names.js';

export const CALLER = 'worker.0';
export const RUN = 'the-run';

/** A proxy as runs reach it, with one run admitted, and servers of the outside world. */
export class World {
  readonly leave: () => void;
  readonly #clients = new Set<Socket>();

  private constructor(
    readonly door: NetworkDoor,
    readonly decisions: NetworkDecision[],
  ) {
    this.leave = door.admit(CALLER, RUN);
  }

  static async open(
    hosts: string[],
    names: Answers | Lookup = {},
    timeouts: Partial<Timeouts> = {},
  ): Promise<World> {
    const network = new Network(typeof names === 'function' ? names : lookupIn(names), {
      ...TIMEOUTS,
      ...timeouts,
    });
    const decisions: NetworkDecision[] = [];
    const door = await network.open(hosts, (decision) => decisions.push(decision));
    return new World(door, decisions);
  }

  /** A run's connection, as its forwarder makes it. */
  call(caller = CALLER): Call {
    const call = callAt(this.door, caller);
    this.#clients.add(call.socket);
    return call;
  }

  /** Sends one request and gives all that comes back until the proxy hangs up. */
  async ask(request: string | string[], caller?: string): Promise<string> {
    const call = this.call(caller);
    call.say(request);
    return call.all();
  }

  get refusals(): string[] {
    return this.decisions.filter(({ allowed }) => !allowed).map(({ host, port }) => `${host}:${port}`);
  }

  async close(): Promise<void> {
    for (const socket of this.#clients) socket.destroy();
    await this.door.close();
  }
}

export function callAt(door: NetworkDoor, caller: string): Call {
  const socket = connect({ path: door.socket, allowHalfOpen: true });
  socket.on('error', () => {});
  socket.write(`${caller}\n`);
  return new Call(socket);
}

/** One connection to the proxy, spoken to byte by byte. */
export class Call {
  heard = '';
  isClosed = false;

  constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => (this.heard += chunk.toString('latin1')));
    socket.once('close', () => (this.isClosed = true));
    socket.once('end', () => socket.end());
  }

  /** Lines are joined as HTTP wants it, with the empty line at the end. */
  say(said: string | string[] | Buffer): void {
    this.socket.write(Array.isArray(said) ? `${said.join('\r\n')}\r\n\r\n` : said);
  }

  /** Waits for this part of an answer; gives all so far. */
  async hear(part: string): Promise<string> {
    await until(() => this.heard.includes(part) || this.isClosed, `${JSON.stringify(part)} was heard`);
    return this.heard;
  }

  async all(): Promise<string> {
    await until(() => this.isClosed, 'the proxy hung up');
    return this.heard;
  }
}

export interface Outside {
  port: number;
  /** "METHOD url host body" of each request. */
  requests: string[];
  connections(): number;
  close(): void;
}

/** A server that tells what it was asked. */
export async function serveOutside(
  kind: 'http' | 'https',
  listener?: RequestListener,
  host = '127.0.0.1',
): Promise<Outside> {
  const requests: string[] = [];
  const answer: RequestListener = async (request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.host} ${await text(request)}`);
    if (listener) listener(request, response);
    else response.end(`hello from ${request.url}`);
  };
  const server = kind === 'http' ? createServer(answer) : createTlsServer(makeCertificate(), answer);
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    connections: () => open.size,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

export const headersOf = ({ rawHeaders }: IncomingMessage): string[] =>
  rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [`${name.toLowerCase()}: ${rawHeaders[index + 1]}`] : [],
  );
