import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PungiError } from '@pungi/core/base';
import { RequestQueue } from './request-queue.js';

export interface ConnectionLimits {
  /** Concurrent connections; beyond it, an idle one is closed for a new one. */
  max: number;
  /** Total bytes of replies that clients have not read yet. */
  unreadBytes: number;
  /** A client that reads nothing of a reply for this long is disconnected. */
  stalledMs: number;
  /** Time from the first byte of a request to its last. */
  requestMs: number;
}

const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  max: 512,
  unreadBytes: 64 * 1024 * 1024,
  stalledMs: 20_000,
  requestMs: 60_000,
};
/** Clients send their headers at once. */
const HEADERS_MS = 10_000;
const SWEEP_MS = 1000;

interface Connection {
  queue: RequestQueue;
  /** Requests that wait for their reply. */
  waiting: number;
  /** Event streams, which may stay silent forever. */
  streams: number;
  /** The time since which every sweep has found unread bytes. */
  unreadSince: number | undefined;
}

/** Keeps slow, silent or unread connections from holding memory or the places of others. */
export class Connections {
  readonly #limits: ConnectionLimits;
  /** Ordered by last use. */
  readonly #open = new Map<Socket, Connection>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(server: Server, limits: ConnectionLimits = DEFAULT_CONNECTION_LIMITS) {
    this.#limits = limits;
    server.headersTimeout = Math.min(HEADERS_MS, limits.requestMs);
    server.requestTimeout = limits.requestMs;
    server.on('connection', (socket) => this.#welcome(socket));
    // Called after a period without a byte in either direction.
    server.setTimeout(limits.stalledMs, (socket) => this.#endIfUseless(socket));
    this.#sweeper = setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  get count(): number {
    return this.#open.size;
  }

  /** Handles the requests of each connection one by one. */
  inOrder(handle: (req: IncomingMessage, res: ServerResponse) => void): typeof handle {
    return (req, res) => this.#open.get(req.socket)?.queue.add(res, () => handle(req, res));
  }

  /**
   * Counts a request until its response closes. `isStream`: the response is an event stream, which nobody
   * waits for.
   */
  begin({ socket }: IncomingMessage, res: ServerResponse, isStream: boolean): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    const kind = isStream ? 'streams' : 'waiting';
    connection[kind] += 1;
    this.#use(socket, connection);
    res.once('close', () => {
      connection[kind] -= 1;
      if (this.#open.has(socket)) this.#use(socket, connection);
    });
  }

  /** While too many bytes are unread, disconnects the clients that have not read for longest. */
  sweep(now = performance.now()): void {
    let unread = 0;
    const slow: { socket: Socket; since: number }[] = [];
    for (const [socket, connection] of this.#open) {
      connection.unreadSince = socket.writableLength > 0 ? (connection.unreadSince ?? now) : undefined;
      unread += socket.writableLength;
      if (connection.unreadSince !== undefined) slow.push({ socket, since: connection.unreadSince });
    }
    for (const { socket } of slow.sort((a, b) => a.since - b.since)) {
      if (unread <= this.#limits.unreadBytes) return;
      unread -= socket.writableLength;
      socket.destroy();
    }
  }

  close(): void {
    clearInterval(this.#sweeper);
  }

  #welcome(socket: Socket): void {
    if (this.#open.size >= this.#limits.max) this.#makeRoom();
    const queue = new RequestQueue(socket);
    const connection = { queue, waiting: 0, streams: 0, unreadSince: undefined };
    this.#open.set(socket, connection);
    socket.once('close', () => this.#open.delete(socket));
  }

  /**
   * Closes a connection whose client sends without waiting for replies, or may be gone; else one without requests, else one with only
   * event streams, else the least recently used one.
   */
  #makeRoom(): void {
    const open = [...this.#open];
    const [socket] =
      open.find(([, { queue }]) => queue.isStopped) ??
      open.find(([, { waiting, streams }]) => waiting + streams === 0) ??
      open.find(([, { waiting }]) => waiting === 0) ??
      open[0]!;
    this.#open.delete(socket);
    socket.destroy();
  }

  #use(socket: Socket, connection: Connection): void {
    this.#open.delete(socket);
    this.#open.set(socket, connection);
  }

  #endIfUseless(socket: Socket): void {
    const connection = this.#open.get(socket);
    const { waiting, streams } = connection ?? { waiting: 0, streams: 0 };
    // A request in line behind a stream is never answered.
    const isStuck = waiting === 0 && connection?.queue.isStopped;
    if (waiting + streams === 0 || isStuck || socket.writableLength > 0) socket.destroy();
  }
}

const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

/** Anyone who reaches the port can run code, so without authentication only this machine may. */
export function assertLoopback(host: string): void {
  if (LOOPBACK.includes(host)) return;
  throw new PungiError(
    'CONFIGURATION_ERROR',
    `Refusing to listen on ${host}: until authentication exists, MCP over HTTP binds only to ${LOOPBACK.join(', ')}. ` +
      'To reach it from elsewhere, forward the port, for example with ssh -L.',
    { host, allowed: LOOPBACK },
  );
}

/** Formats a host for a URL. */
export const urlHost = (host: string) => (host.includes(':') ? `[${host}]` : host);
