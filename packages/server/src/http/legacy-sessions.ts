import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isInitializeRequest,
  type McpServer,
} from '@modelcontextprotocol/server';
import type { ClientTurns } from './client-turns.js';

export interface SessionLimits {
  /** Concurrent sessions; beyond it, an idle session is closed for a new one. */
  max: number;
  /** A session without an open request or stream is closed after this time. */
  idleMs: number;
}

export const DEFAULT_SESSION_LIMITS: SessionLimits = { max: 256, idleMs: 30 * 60_000 };

interface Session {
  transport: NodeStreamableHTTPServerTransport;
  /** The client's own name for itself. */
  client: string;
  /** Requests that wait for their reply. */
  waiting: number;
  /** Open event streams. Most clients keep one open, so it does not count as use. */
  streams: number;
  usedAt: number;
}

/**
 * Keeps sessions for clients of the protocols up to 2025-11-25. The SDK's stateless fallback would not do: only with a
 * session does a cancellation reach its run.
 */
export class LegacySessions {
  readonly #makeServer: () => McpServer;
  readonly #turns: ClientTurns;
  readonly #limits: SessionLimits;
  readonly #now: () => number;
  readonly #sessions = new Map<string, Session>();
  #sweeper: NodeJS.Timeout | undefined;

  constructor(
    makeServer: () => McpServer,
    turns: ClientTurns,
    limits: SessionLimits,
    now: () => number = () => performance.now(),
  ) {
    this.#makeServer = makeServer;
    this.#turns = turns;
    this.#limits = limits;
    this.#now = now;
  }

  get count(): number {
    return this.#sessions.size;
  }

  /** The session that the request names, if there is one. */
  sessionOf({ headers }: IncomingMessage): Session | undefined {
    const id = headers['mcp-session-id'];
    return typeof id === 'string' ? this.#sessions.get(id) : undefined;
  }

  async handle(req: IncomingMessage, res: ServerResponse, body: unknown): Promise<void> {
    const known = this.sessionOf(req);
    if (known) return this.#serve(known, req, res, body);
    if (req.headers['mcp-session-id'] !== undefined)
      return respondProblem(res, 404, INVALID_REQUEST, 'Session not found: initialize again.');
    if (!isInitializeRequest(body)) {
      return respondProblem(res, 400, INVALID_REQUEST, 'Mcp-Session-Id is missing: initialize first.');
    }
    // A new session has a server with all its tools.
    await this.#turns.takeAmong('new', req.socket);
    const { id: newId, session } = await this.#connect(body.params.clientInfo.name);
    // Nothing is awaited from here to the first request, or clients that connect together would share the
    // last place.
    if (!this.#makeRoom(session.client)) {
      void session.transport.close();
      const message = `All ${this.#limits.max} sessions of the server are busy: try again later.`;
      return respondProblem(res, 503, INTERNAL_ERROR, message, { headers: { 'retry-after': '5' } });
    }
    this.#sessions.set(newId, session);
    return this.#serve(session, req, res, body);
  }

  /** Ends idle sessions. */
  async expire(): Promise<void> {
    const deadline = this.#now() - this.#limits.idleMs;
    const idle = [...this.#sessions.values()].filter(
      ({ waiting, streams, usedAt }) => waiting + streams === 0 && usedAt <= deadline,
    );
    await Promise.all(idle.map(({ transport }) => transport.close()));
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#sessions.values()].map(({ transport }) => transport.close()));
  }

  async #connect(client: string): Promise<{ id: string; session: Session }> {
    this.#sweeper ??= setInterval(() => void this.expire(), Math.min(this.#limits.idleMs, 60_000)).unref();
    const id = randomUUID();
    const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: () => id });
    const server = this.#makeServer();
    // DELETE, expiry and close all end the session through this handler.
    const before = server.server.onclose;
    server.server.onclose = () => {
      this.#sessions.delete(id);
      before?.();
    };
    await server.connect(transport);
    return { id, session: { transport, client, waiting: 0, streams: 0, usedAt: this.#now() } };
  }

  async #serve(session: Session, req: IncomingMessage, res: ServerResponse, body: unknown): Promise<void> {
    const kind = req.method === 'GET' ? 'streams' : 'waiting';
    session[kind] += 1;
    session.usedAt = this.#now();
    res.once('close', () => {
      session[kind] -= 1;
      session.usedAt = this.#now();
    });
    await session.transport.handleRequest(req, res, body);
  }

  /**
   * When all places are taken, closes one idle session: of the client with the most sessions, the least recently used one. So a
   * client that opens many sessions loses its own first, or gets no more. The client of a closed session initializes again.
   */
  #makeRoom(client: string): boolean {
    if (this.#sessions.size < this.#limits.max) return true;
    const counts = new Map([[client, 1]]);
    for (const { client: other } of this.#sessions.values()) counts.set(other, (counts.get(other) ?? 0) + 1);
    const countOf = (session: Session) => counts.get(session.client)!;
    const [least] = [...this.#sessions]
      .filter(([, session]) => session.waiting === 0 && countOf(session) >= counts.get(client)!)
      .sort(([, a], [, b]) => countOf(b) - countOf(a) || a.usedAt - b.usedAt);
    if (least === undefined) return false;
    const [id, { transport }] = least;
    this.#sessions.delete(id);
    void transport.close();
    return true;
  }
}

export function respondJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers });
  res.end(JSON.stringify(body));
}

/** Responds in JSON-RPC form to a request that never reached the protocol. */
export function respondProblem(
  res: ServerResponse,
  status: number,
  code: number,
  message: string,
  { headers = {}, id = null }: { headers?: Record<string, string>; id?: string | number | null } = {},
): void {
  respondJson(res, status, { jsonrpc: '2.0', error: { code, message }, id }, headers);
}
