import { promises as dns } from 'node:dns';
import { chmodSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { PrivateFolder } from '../private-folder.js';
import { readCaller } from './caller.js';
import { forward, refuse } from './forward.js';
import { parseHostRule } from './host-rules.js';
import { PATIENCE, type Patience } from './patience.js';
import { type Lookup, Names, Policy } from './policy.js';
import { Refusal, writeRefusal } from './refusal.js';
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

  constructor(
    lookup: Lookup = dns.lookup,
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
    const server = startProxy(policy, visits);
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    const folder = new PrivateFolder();
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(folder.socket, resolve);
      });
      // Its folder lets nobody in: only who was handed the socket itself, under whatever identity, can call.
      chmodSync(folder.socket, 0o666);
    } catch (error) {
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
        const closed = new Promise((resolve) => server.close(resolve));
        for (const socket of sockets) socket.destroy();
        for (const visit of visits.values()) visit.end();
        await closed;
        folder.remove();
      },
    };
  }
}

function startProxy(policy: Policy, visits: ReadonlyMap<string, Visit>): Server {
  const visitOf = new WeakMap<object, Visit>();
  const server = createServer({
    maxHeaderSize: LONGEST_HEADERS,
    headersTimeout: policy.patience.headers,
    // The body may take as long as the run.
    requestTimeout: 0,
    keepAliveTimeout: policy.patience.idle,
    connectionsCheckingInterval: Math.min(1000, policy.patience.headers),
  });
  server.timeout = policy.patience.idle;
  server.on('request', (request, response) => {
    const visit = visitOf.get(request.socket);
    if (visit) void forward(request, response, policy, visit);
    else refuse(response, new Refusal(403, 'Nobody knows this run.'));
  });
  server.on('connect', (request, socket, head) => {
    const visit = visitOf.get(request.socket);
    if (visit) void tunnel(request, socket as Socket, head, policy, visit);
    else socket.destroy();
  });
  // The first line of a connection is not HTTP: node's own listener is called only after it.
  const [takeOver] = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) =>
    readCaller(socket, policy.patience.caller, (caller) => {
      const visit = visits.get(caller);
      if (!visit) return void socket.destroy();
      if (!visit.welcome(socket))
        return void socket.end(writeRefusal(new Refusal(503, 'The run has too many connections open.')));
      visitOf.set(socket, visit);
      takeOver!.call(server, socket);
    }),
  );
  return server;
}
