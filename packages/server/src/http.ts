import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  localhostHostValidation,
  localhostOriginValidation,
  type NodeIncomingMessageLike,
  toNodeHandler,
  toWebRequest,
} from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isInitializeRequest,
  isLegacyRequest,
  type McpHttpHandler,
  PARSE_ERROR,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import type { Pungi } from '@pungi/core';
import { type Logger, PungiError, silentLogger } from '@pungi/core/base';
import { Wrapping } from '@pungi/wrap';
import { type Body, RoomForBodies, readJsonBody } from './http/body.js';
import { ClientTurns } from './http/client-turns.js';
import { assertLoopback, type ConnectionLimits, Connections, urlHost } from './http/connections.js';
import {
  DEFAULT_SESSION_LIMITS,
  LegacySessions,
  respondJson,
  respondProblem,
  type SessionLimits,
} from './http/legacy-sessions.js';
import { METRICS_TYPE, metricsText } from './http/metrics.js';
import { MESSAGE_LIMITS } from './message-scan.js';
import { createServerFactory, type Extension } from './server.js';
import { HEADER_MISMATCH, taskHeaderProblem } from './tasks.js';

interface HttpOptions {
  host?: string;
  /** 0 takes a free port; `url` contains it. */
  port?: number;
  logger?: Logger;
  extension?: Extension;
  /** An extension announces changes of its tools, resources or prompts here. */
  changes?: ServerEventBus;
  sessions?: SessionLimits;
  connections?: ConnectionLimits;
}

export interface HttpDoor {
  /** The MCP endpoint. */
  readonly url: string;
  close(): Promise<void>;
}

/** A session keeps the client's description of itself for its whole lifetime. */
const MAX_INITIALIZE_BYTES = 64 * 1024;
const LONG_INITIALIZE = `The initialize request has more than ${MAX_INITIALIZE_BYTES} bytes: shorten it.`;

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** Serves MCP at /mcp to clients of both protocol eras, a health summary at /health and figures at /metrics, on loopback only. */
export async function startHttp(pungi: Pungi, options: HttpOptions = {}): Promise<HttpDoor> {
  const {
    host = '127.0.0.1',
    port = 0,
    logger = silentLogger,
    sessions: limits = DEFAULT_SESSION_LIMITS,
  } = options;
  assertLoopback(host);
  const wrapping = new Wrapping(pungi);
  const makeServer = createServerFactory(pungi, wrapping, options.extension);
  const turns = new ClientTurns();
  const sessions = new LegacySessions(() => makeServer({ lives: true }), turns, limits);
  const modern = createMcpHandler(() => makeServer(), {
    legacy: 'reject',
    maxRequestBodySize: MESSAGE_LIMITS.bytes,
    ...(options.changes && { bus: options.changes }),
    onerror: (error) => logger.debug('MCP over HTTP', { problem: error.message }),
  });
  const stopNotifying = wrapping.scripts.onChange(() => modern.notify.toolsChanged());
  // How often Node checks for slow requests, in ms.
  const server = createServer({ connectionsCheckingInterval: 5000 });
  const connections = new Connections(server, options.connections);
  const mcp = mcpHandler(sessions, modern, connections, turns);
  const handle = guard(
    route({ '/mcp': mcp, '/health': healthHandler(pungi), '/metrics': metricsHandler(pungi) }),
  );
  server.on(
    'request',
    connections.inOrder((req, res) => void handle(req, res).catch((error) => fail(res, error, logger))),
  );
  await listen(server, host, port);
  return {
    url: `http://${urlHost(host)}:${(server.address() as AddressInfo).port}/mcp`,
    close: async () => {
      stopNotifying();
      connections.close();
      await Promise.all([sessions.close(), modern.close(), wrapping.close()]);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Rejects browser pages that reach this server by DNS rebinding: their Host or Origin is not local. */
function guard(next: Handler): Handler {
  const validHost = localhostHostValidation();
  const validOrigin = localhostOriginValidation();
  return async (req, res) => {
    if (validHost(req, res) && validOrigin(req, res)) await next(req, res);
  };
}

function route(routes: Record<string, Handler>): Handler {
  return async (req, res) => {
    const path = (req.url ?? '/').split('?', 1)[0] ?? '/';
    const handler = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (handler) return handler(req, res);
    respondJson(res, 404, { error: `There is nothing at ${path}; MCP is at /mcp.` });
  };
}

function mcpHandler(
  sessions: LegacySessions,
  modern: McpHttpHandler,
  connections: Connections,
  turns: ClientTurns,
): Handler {
  const room = new RoomForBodies();
  const takeTurn = (req: IncomingMessage, isLong: boolean) => {
    const session = sessions.sessionOf(req);
    if (isLong) return turns.takeAmong('large', session ?? req.socket);
    if (session) return turns.takeAs(session);
    return turns.takeAmong(req.headers['mcp-protocol-version'] ? 'modern' : 'new', req.socket);
  };
  return async (req, res) => {
    if (req.method !== 'POST') {
      connections.begin(req, res, req.method === 'GET');
      return sessions.handle(req, res, undefined);
    }
    res.once('close', () => room.release(req));
    const body = await readJsonBody(req, { room, takeTurn: (isLong) => takeTurn(req, isLong) });
    if (body.kind !== 'json') return refuseBody(req, res, body);
    room.complete(req);
    const { value, bytes } = body;
    if (isInitializeRequest(value) && bytes > MAX_INITIALIZE_BYTES)
      return refuseBody(req, res, { kind: 'over-limit', id: null, problem: LONG_INITIALIZE });
    connections.begin(req, res, (value as { method?: unknown } | null)?.method === 'subscriptions/listen');
    // The SDK classifies by headers and the parsed body, so the request needs no body stream.
    const legacy = await isLegacyRequest(await toWebRequest(req as NodeIncomingMessageLike, {}), value);
    if (legacy) return sessions.handle(req, res, value);
    const problem = taskHeaderProblem(req, value);
    if (problem !== undefined)
      return respondProblem(res, 400, HEADER_MISMATCH, problem, {
        id: (value as { id?: string }).id ?? null,
      });
    // The parsed body is passed on as well: the adapter would serialize it again.
    const fetch: McpHttpHandler['fetch'] = (request, about) =>
      modern.fetch(request, { ...about, parsedBody: value });
    await toNodeHandler({ fetch })(req as NodeIncomingMessageLike, res, {});
  };
}

function refuseBody(req: IncomingMessage, res: ServerResponse, body: Exclude<Body, { kind: 'json' }>): void {
  if (body.kind === 'aborted') return;
  // A client that is still sending would see a closed connection instead of the response.
  req.resume();
  const headers: Record<string, string> = body.kind === 'no-room' ? { 'retry-after': '5' } : {};
  const { status, code, problem } = { ...REFUSALS[body.kind], ...body };
  respondProblem(res, status, code, problem, { headers, id: 'id' in body ? body.id : null });
}

/** A `problem` of the body takes the place of an empty one here. */
const REFUSALS = {
  'not-json': { status: 400, code: PARSE_ERROR, problem: 'The request is not valid JSON.' },
  'over-limit': { status: 400, code: INVALID_REQUEST, problem: '' },
  'too-large': { status: 413, code: INVALID_REQUEST, problem: '' },
  'no-room': {
    status: 503,
    code: INTERNAL_ERROR,
    problem: 'The server holds too many large requests: try again later.',
  },
} as const;

function healthHandler(pungi: Pungi): Handler {
  return async (_req, res) => {
    const { status, version, isolation, problem, alerts, cluster } = await pungi.health();
    respondJson(res, status === 'unhealthy' ? 503 : 200, {
      status,
      version,
      tier: isolation.tier,
      problem,
      alerts: alerts.map(({ message }) => message),
      ...(cluster && { cluster }),
    });
  };
}

/** In the text format of Prometheus. */
function metricsHandler(pungi: Pungi): Handler {
  return async (_req, res) => {
    res.writeHead(200, { 'content-type': METRICS_TYPE });
    res.end(metricsText(await pungi.health()));
  };
}

function fail(res: ServerResponse, error: unknown, logger: Logger): void {
  logger.error('MCP over HTTP', { problem: PungiError.from(error).message });
  if (res.headersSent) res.destroy();
  else respondJson(res, 500, { error: 'INTERNAL_ERROR' });
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new PungiError(
          'CONFIGURATION_ERROR',
          `Cannot listen on ${urlHost(host)}:${port}: ${error.code === 'EACCES' ? 'the system reserves this port for root; choose one above 1023.' : error.message}`,
          {
            host,
            port,
          },
        ),
      ),
    );
    server.listen(port, host, () => resolve());
  });
}
