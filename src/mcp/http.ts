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
  INVALID_REQUEST,
  isLegacyRequest,
  PARSE_ERROR,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import { PungiError } from '../base/errors.js';
import { type Logger, silentLogger } from '../base/logger.js';
import type { Pungi } from '../pungi.js';
import { MAX_BODY_BYTES, readJsonBody } from './http/body.js';
import { DEFAULT_SESSION_LIMITS, LegacySessions, type SessionLimits } from './http/legacy-sessions.js';
import { assertLoopback, urlHost } from './http/loopback.js';
import { respondJson, respondProblem } from './http/respond.js';
import { createServerFactory, type Extension } from './server.js';

export interface HttpOptions {
  host?: string;
  /** 0 takes a free one; the URL tells which. */
  port?: number;
  logger?: Logger;
  extension?: Extension;
  /** Where an extension tells that its tools, resources or prompts have changed. */
  changes?: ServerEventBus;
  sessions?: SessionLimits;
}

export interface HttpDoor {
  /** The MCP endpoint. */
  readonly url: string;
  close(): Promise<void>;
}

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** Serves MCP at /mcp to clients of both protocol eras, and a line of health at /health, on loopback only. */
export async function startHttp(pungi: Pungi, options: HttpOptions = {}): Promise<HttpDoor> {
  const {
    host = '127.0.0.1',
    port = 0,
    logger = silentLogger,
    sessions: limits = DEFAULT_SESSION_LIMITS,
  } = options;
  assertLoopback(host);
  const makeServer = createServerFactory(pungi, options.extension);
  const sessions = new LegacySessions(() => makeServer({ lives: true }), limits);
  const modern = createMcpHandler(() => makeServer(), {
    legacy: 'reject',
    maxRequestBodySize: MAX_BODY_BYTES,
    ...(options.changes && { bus: options.changes }),
    onerror: (error) => logger.debug('MCP over HTTP', { problem: error.message }),
  });
  const stopTelling = pungi.wrapped.onChange(() => modern.notify.toolsChanged());
  const handle = guard(
    route({ '/mcp': mcpHandler(sessions, toNodeHandler(modern)), '/health': healthHandler(pungi) }),
  );
  const server = createServer((req, res) => void handle(req, res).catch((error) => fail(res, error, logger)));
  await listen(server, host, port);
  return {
    url: `http://${urlHost(host)}:${(server.address() as AddressInfo).port}/mcp`,
    close: async () => {
      stopTelling();
      await Promise.all([sessions.close(), modern.close()]);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A page in a browser that was pointed here by DNS rebinding shows itself by its Host or its Origin. */
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

function mcpHandler(sessions: LegacySessions, modern: ReturnType<typeof toNodeHandler>): Handler {
  return async (req, res) => {
    if (req.method !== 'POST') return sessions.handle(req, res, undefined);
    const body = await readJsonBody(req);
    if (body.kind === 'aborted') return;
    if (body.kind === 'too-large') {
      // A client that is still sending would see a closed connection instead of the answer.
      req.resume();
      return respondProblem(res, 413, INVALID_REQUEST, `The request is larger than ${MAX_BODY_BYTES} bytes.`);
    }
    if (body.kind === 'not-json')
      return respondProblem(res, 400, PARSE_ERROR, 'The request is not valid JSON.');
    // The headers decide together with the parsed body, so the request to classify needs no body of its own.
    const legacy = await isLegacyRequest(await toWebRequest(req as NodeIncomingMessageLike, {}), body.value);
    if (legacy) await sessions.handle(req, res, body.value);
    else await modern(req as NodeIncomingMessageLike, res, body.value);
  };
}

function healthHandler(pungi: Pungi): Handler {
  return async (_req, res) => {
    const { status, version, isolation, problem, alerts } = await pungi.health();
    respondJson(res, status === 'unhealthy' ? 503 : 200, {
      status,
      version,
      tier: isolation.tier,
      problem,
      alerts: alerts.map(({ message }) => message),
    });
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
        new PungiError('CONFIGURATION_ERROR', `Cannot listen on ${urlHost(host)}:${port}: ${error.message}`, {
          host,
          port,
        }),
      ),
    );
    server.listen(port, host, () => resolve());
  });
}
