import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { PrivateFolder } from '../runtime/private-folder.js';
import { Refusal, writeRefusal } from './refusal.js';
import type { Capacity, RunConnections } from './run-connections.js';

/** Timeouts of the proxy, in milliseconds. The total lifetime of a connection is limited by the run. */
export interface Timeouts {
  /** For the line that names the caller. */
  caller: number;
  headers: number;
  hello: number;
  lookup: number;
  connect: number;
  /** Without any traffic. */
  idle: number;
}

export const TIMEOUTS: Timeouts = {
  caller: 5000,
  headers: 15_000,
  hello: 10_000,
  lookup: 10_000,
  connect: 15_000,
  idle: 300_000,
};

const LONGEST_HEADERS = 32 * 1024;
const LONGEST_NAME = 256;
const NEWLINE = 10;

/** What a proxy allows its clients. */
export interface ProxyHandler {
  answer(request: IncomingMessage, response: ServerResponse, run: RunConnections): Promise<void>;
  /** Answers CONNECT. Without it such a connection is cut. */
  tunnel?(request: IncomingMessage, client: Socket, head: Buffer, run: RunConnections): Promise<void>;
}

interface ProxyServer {
  /** The socket for forwarders: HTTP after a line that names the caller. */
  socket: string;
  /** Admits the connections of a caller. Returns a function that ends the admission and cuts the connections. */
  admit(caller: string, run: RunConnections): () => void;
  close(): Promise<void>;
}

/** An admitted connection. */
interface ProxyClient {
  run: RunConnections;
  queue: RequestQueue;
}

type Clients = WeakMap<object, ProxyClient>;

/**
 * The only network access of jails, on a unix socket: for runs to the hosts of their profile, for builds to the
 * package indexes.
 */
export async function startProxyServer(
  handler: ProxyHandler,
  timeouts: Timeouts,
  capacity: Capacity,
): Promise<ProxyServer> {
  const admitted = new Map<string, RunConnections>();
  const clients: Clients = new WeakMap();
  const http = createProxy(handler, timeouts, clients);
  const entrance = createEntrance(http, clients, { timeouts, admitted, capacity });
  const sockets = new Set<Socket>();
  entrance.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const folder = new PrivateFolder();
  try {
    // Node enforces the timeouts of an HTTP server only while it listens. Connections to this socket are not
    // admitted.
    await listen(http, join(folder.path, 'http.sock'));
    await listen(entrance, folder.socket);
    // The folder is private: only a process that was given the socket itself, under whatever user id, can connect.
    chmodSync(folder.socket, 0o666);
  } catch (error) {
    http.close();
    folder.remove();
    throw error;
  }
  return {
    socket: folder.socket,
    admit: (caller, run) => {
      admitted.set(caller, run);
      return () => {
        admitted.delete(caller);
        run.end();
      };
    },
    close: async () => {
      const closed = Promise.all([once(entrance, 'close'), once(http, 'close')]);
      for (const server of [entrance, http]) server.close();
      for (const socket of sockets) socket.destroy();
      for (const run of admitted.values()) run.end();
      await closed;
      folder.remove();
    },
  };
}

async function listen(server: Server, path: string): Promise<void> {
  // Active runs keep Node running; an idle proxy does not.
  server.listen(path).unref();
  await once(server, 'listening');
}

function createProxy(handler: ProxyHandler, timeouts: Timeouts, clients: Clients): HttpServer {
  const server = createHttpServer({
    maxHeaderSize: LONGEST_HEADERS,
    headersTimeout: timeouts.headers,
    // The body may take as long as the run.
    requestTimeout: 0,
    keepAliveTimeout: timeouts.idle,
    connectionsCheckingInterval: Math.min(1000, timeouts.headers),
  });
  server.timeout = timeouts.idle;
  server.on('request', (request, response) => {
    const { socket } = request;
    const client = clients.get(socket);
    if (!client) return void socket.destroy();
    client.queue.enter(response, () => {
      handler.answer(request, response, client.run).catch(() => socket.destroy());
    });
  });
  server.on('connect', (request, stream, head) => {
    const socket = stream as Socket;
    const client = clients.get(socket);
    // A tunnel cannot begin during the answer to an earlier request.
    if (!client || client.queue.isBusy || !handler.tunnel) return void socket.destroy();
    handler.tunnel(request, socket, head, client.run).catch(() => socket.destroy());
  });
  return server;
}

interface Admission {
  timeouts: Timeouts;
  admitted: ReadonlyMap<string, RunConnections>;
  capacity: Capacity;
}

/** The first line of a connection is not HTTP: it names the caller. The rest goes to the proxy. */
function createEntrance(
  proxy: HttpServer,
  clients: Clients,
  { timeouts, admitted, capacity }: Admission,
): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    readCaller(socket, timeouts.caller, (caller) => {
      const run = admitted.get(caller);
      if (!run) return void socket.destroy();
      if (!run.welcome(socket, capacity.isReached)) {
        socket.write(writeRefusal(new Refusal(503, 'There are too many connections open.')));
        return void socket.destroySoon();
      }
      capacity.count(socket);
      clients.set(socket, { run, queue: new RequestQueue(socket) });
      proxy.emit('connection', socket);
    }),
  );
}

/** Reads the line that a forwarder sends before the data of a run; the rest stays in the socket. */
function readCaller(socket: Socket, timeoutMs: number, found: (caller: string) => void): void {
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  socket.on('error', () => socket.destroy());
  socket.once('close', () => clearTimeout(timer));
  let read = Buffer.alloc(0);
  const take = () => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    read = Buffer.concat([read, chunk]);
    const end = read.indexOf(NEWLINE);
    if (end < 0 && read.length <= LONGEST_NAME) return;
    clearTimeout(timer);
    socket.off('readable', take);
    if (end < 0) return void socket.destroy();
    const rest = read.subarray(end + 1);
    if (rest.length > 0) socket.unshift(rest);
    found(read.subarray(0, end).toString('latin1'));
  };
  socket.on('readable', take);
}

/** Few clients send a request before the previous one is answered. */
const MOST_WAITING = 16;

interface Waiting {
  response: ServerResponse;
  begin: () => void;
}

/** Handles the requests of one connection one at a time: node emits all that were pipelined. */
class RequestQueue {
  readonly #waiting: Waiting[] = [];
  #isBusy = false;

  constructor(private readonly socket: Socket) {}

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Begins when the previous ones are answered; a connection with too many pending requests is cut. */
  enter(response: ServerResponse, begin: () => void): void {
    if (this.#waiting.length >= MOST_WAITING) return void this.socket.destroy();
    this.#waiting.push({ response, begin });
    if (!this.#isBusy) this.#next();
  }

  #next(): void {
    // After an answer that closes the connection, nobody would receive the next one.
    const next = this.socket.writableEnded || this.socket.destroyed ? undefined : this.#waiting.shift();
    this.#isBusy = next !== undefined;
    next?.response.once('close', () => this.#next());
    next?.begin();
  }
}
