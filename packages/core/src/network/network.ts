import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { PrivateFolder } from '../runtime/private-folder.js';
import { readCaller } from './caller.js';
import { Capacity } from './capacity.js';
import { forward } from './forward.js';
import { parseHostRule } from './host-rules.js';
import { type Lookup, lookUp } from './lookup.js';
import { Names } from './names.js';
import { PATIENCE, type Patience } from './patience.js';
import { Policy } from './policy.js';
import { Refusal, writeRefusal } from './refusal.js';
import { RequestLine } from './request-line.js';
import { tunnel } from './tunnel.js';
import { type NetworkDecision, Visit } from './visit.js';

const LONGEST_HEADERS = 32 * 1024;

export interface NetworkDoor {
  /** Where the forwarders of runs call; HTTP after a line that tells the caller. */
  socket: string;
  /** Lets the connections of a caller in, for a run, until the function that it gives is called; that also cuts them. */
  admit(caller: string, run: string): () => void;
  close(): Promise<void>;
}

/** Opens ways to the hosts that profiles allow. One for the whole server. */
export class Network {
  readonly #names: Names;
  readonly #capacity = new Capacity();

  constructor(
    lookup: Lookup = lookUp,
    private readonly patience: Patience = PATIENCE,
  ) {
    this.#names = new Names(lookup, patience.lookup);
  }

  /** `hosts` are entries as parseHostRule reads them. */
  async open(
    hosts: readonly string[],
    onDecision: (decision: NetworkDecision) => void,
  ): Promise<NetworkDoor> {
    const policy = new Policy(hosts.map(parseHostRule), this.#names, this.patience);
    const visits = new Map<string, Visit>();
    const guests: Guests = new WeakMap();
    const http = createProxy(policy, guests);
    const entrance = createEntrance(http, guests, { policy, visits, capacity: this.#capacity });
    const sockets = new Set<Socket>();
    entrance.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    const folder = new PrivateFolder();
    try {
      // Node watches over the time-outs of an HTTP server only while that listens. Whoever called here would be no guest.
      await listen(http, join(folder.path, 'http.sock'));
      await listen(entrance, folder.socket);
      // Its folder lets nobody in: only who was handed the socket itself, under whatever identity, can call.
      chmodSync(folder.socket, 0o666);
    } catch (error) {
      http.close();
      folder.remove();
      throw error;
    }
    return {
      socket: folder.socket,
      admit: (caller, run) => {
        const visit = new Visit(run, onDecision);
        visits.set(caller, visit);
        return () => {
          visits.delete(caller);
          visit.end();
        };
      },
      close: async () => {
        const closed = Promise.all([once(entrance, 'close'), once(http, 'close')]);
        for (const server of [entrance, http]) server.close();
        for (const socket of sockets) socket.destroy();
        for (const visit of visits.values()) visit.end();
        await closed;
        folder.remove();
      },
    };
  }
}

/** A connection of a run. */
interface Guest {
  visit: Visit;
  line: RequestLine;
}

type Guests = WeakMap<object, Guest>;

async function listen(server: Server, path: string): Promise<void> {
  // A run keeps Node alive while it goes on; an idle door does not.
  server.listen(path).unref();
  await once(server, 'listening');
}

function createProxy(policy: Policy, guests: Guests): HttpServer {
  const server = createHttpServer({
    maxHeaderSize: LONGEST_HEADERS,
    headersTimeout: policy.patience.headers,
    // The body may take as long as the run.
    requestTimeout: 0,
    keepAliveTimeout: policy.patience.idle,
    connectionsCheckingInterval: Math.min(1000, policy.patience.headers),
  });
  server.timeout = policy.patience.idle;
  server.on('request', (request, response) => {
    const { socket } = request;
    const guest = guests.get(socket);
    if (!guest) return void socket.destroy();
    guest.line.enter(response, () => {
      forward(request, response, policy, guest.visit).catch(() => socket.destroy());
    });
  });
  server.on('connect', (request, stream, head) => {
    const socket = stream as Socket;
    const guest = guests.get(socket);
    // A tunnel cannot begin amid the answer to an earlier request.
    if (!guest || guest.line.isBusy) return void socket.destroy();
    tunnel(request, socket, head, policy, guest.visit).catch(() => socket.destroy());
  });
  return server;
}

interface Entrance {
  policy: Policy;
  visits: ReadonlyMap<string, Visit>;
  capacity: Capacity;
}

/** The first line of a connection is not HTTP: it says who calls. What comes after it goes to the proxy. */
function createEntrance(proxy: HttpServer, guests: Guests, { policy, visits, capacity }: Entrance): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    readCaller(socket, policy.patience.caller, (caller) => {
      const visit = visits.get(caller);
      if (!visit) return void socket.destroy();
      if (!visit.welcome(socket, capacity.isReached)) {
        socket.write(writeRefusal(new Refusal(503, 'There are too many connections open.')));
        return void socket.destroySoon();
      }
      capacity.count(socket);
      guests.set(socket, { visit, line: new RequestLine(socket) });
      proxy.emit('connection', socket);
    }),
  );
}
