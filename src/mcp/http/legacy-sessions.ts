import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isInitializeRequest,
  type McpServer,
} from '@modelcontextprotocol/server';
import { respondProblem } from './respond.js';

export interface SessionLimits {
  /** Sessions at the same time. */
  max: number;
  /** A session without an open request ends after this. */
  idleMs: number;
}

export const DEFAULT_SESSION_LIMITS: SessionLimits = { max: 100, idleMs: 30 * 60_000 };

interface Session {
  transport: NodeStreamableHTTPServerTransport;
  open: number;
  usedAt: number;
}

/**
 * Clients of the protocols up to 2025-11-25 keep a session. It lives here and not in the SDK's stateless fallback,
 * because only with a session does a cancellation reach the run that it is meant for.
 */
export class LegacySessions {
  readonly #makeServer: () => McpServer;
  readonly #limits: SessionLimits;
  readonly #now: () => number;
  readonly #sessions = new Map<string, Session>();
  #sweeper: NodeJS.Timeout | undefined;

  constructor(
    makeServer: () => McpServer,
    limits: SessionLimits,
    now: () => number = () => performance.now(),
  ) {
    this.#makeServer = makeServer;
    this.#limits = limits;
    this.#now = now;
  }

  get count(): number {
    return this.#sessions.size;
  }

  async handle(req: IncomingMessage, res: ServerResponse, body: unknown): Promise<void> {
    const id = req.headers['mcp-session-id'];
    if (typeof id === 'string') {
      const session = this.#sessions.get(id);
      if (!session) return respondProblem(res, 404, INVALID_REQUEST, 'Session not found: initialize again.');
      return this.#serve(session, req, res, body);
    }
    if (!isInitializeRequest(body)) {
      return respondProblem(res, 400, INVALID_REQUEST, 'Mcp-Session-Id is missing: initialize first.');
    }
    const { id: newId, session } = await this.#connect();
    // From here to the first request nothing is awaited, or clients that come together would share the last place.
    if (!this.#makeRoom()) {
      void session.transport.close();
      const message = `The server has ${this.#limits.max} sessions in use: try again later.`;
      return respondProblem(res, 503, INTERNAL_ERROR, message, { 'retry-after': '5' });
    }
    this.#sessions.set(newId, session);
    return this.#serve(session, req, res, body);
  }

  /** Ends the sessions that nobody has used for a while. */
  async expire(): Promise<void> {
    const deadline = this.#now() - this.#limits.idleMs;
    const idle = [...this.#sessions.values()].filter(({ open, usedAt }) => open === 0 && usedAt <= deadline);
    await Promise.all(idle.map(({ transport }) => transport.close()));
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#sessions.values()].map(({ transport }) => transport.close()));
  }

  async #connect(): Promise<{ id: string; session: Session }> {
    this.#sweeper ??= setInterval(() => void this.expire(), Math.min(this.#limits.idleMs, 60_000)).unref();
    const id = randomUUID();
    const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: () => id });
    const server = this.#makeServer();
    // Whatever ends the session (DELETE, expiry, close) ends it here too.
    const before = server.server.onclose;
    server.server.onclose = () => {
      this.#sessions.delete(id);
      before?.();
    };
    await server.connect(transport);
    return { id, session: { transport, open: 0, usedAt: this.#now() } };
  }

  async #serve(session: Session, req: IncomingMessage, res: ServerResponse, body: unknown): Promise<void> {
    session.open += 1;
    res.once('close', () => {
      session.open -= 1;
      session.usedAt = this.#now();
    });
    await session.transport.handleRequest(req, res, body);
  }

  /** Where all places are taken, the session that has been idle longest gives way; a session in use never does. */
  #makeRoom(): boolean {
    if (this.#sessions.size < this.#limits.max) return true;
    const idle = [...this.#sessions].filter(([, { open }]) => open === 0);
    const [oldest] = idle.sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (oldest === undefined) return false;
    const [id, { transport }] = oldest;
    this.#sessions.delete(id);
    void transport.close();
    return true;
  }
}
