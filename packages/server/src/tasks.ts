import type { IncomingMessage } from 'node:http';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  INTERNAL_ERROR,
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/** The extension of the protocol in which a call may answer with a task, which the client asks for later. */
export const TASKS = 'io.modelcontextprotocol/tasks';
/** The capability of a client or a server. */
const EXTENSION = { extensions: { [TASKS]: {} } };
const TASKS_SINCE = '2026-07-28';

/** A task as `tasks/get` shows it. */
export interface Task {
  taskId: string;
  status: 'working' | 'input_required' | 'completed' | 'cancelled' | 'failed';
  createdAt: string;
  lastUpdatedAt: string;
  ttlMs: number;
  pollIntervalMs: number;
  statusMessage?: string;
  /** Of a completed one: what the call would have returned. */
  result?: CallToolResult;
  /** Of a failed one, which is no failure of its code. */
  error?: { code: number; message: string };
  inputRequests?: Record<string, unknown>;
}

/** Finds tasks of a caller; each returns undefined for an unknown id. */
export interface TaskSource {
  get(taskId: string, ctx: ServerContext): Promise<Task | undefined>;
  cancel(taskId: string, ctx: ServerContext): Promise<true | undefined>;
  update(taskId: string, responses: Record<string, unknown>, ctx: ServerContext): Promise<true | undefined>;
}

/** Whether this call may be answered with a task: the client says so with each request. */
export function knowsTasks({ server }: McpServer, { mcpReq }: ServerContext): boolean {
  if ((server.getNegotiatedProtocolVersion() ?? '') < TASKS_SINCE) return false;
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  const { extensions } = (declared ?? {}) as { extensions?: Record<string, unknown> };
  return extensions?.[TASKS] !== undefined;
}

/** The answer of a call that goes on as a task. */
export function taskCreated({ result: _, error: __, inputRequests: ___, ...task }: Task): CallToolResult {
  return { resultType: 'task', ...task } as unknown as CallToolResult;
}

export const lostTask = (message: string) => ({ code: INTERNAL_ERROR, message });

const Named = z.looseObject({ taskId: z.string() });

/** Answers `tasks/get`, `tasks/update` and `tasks/cancel`, for clients that know the extension. */
export function serveTasks(mcp: McpServer, sources: readonly TaskSource[]): void {
  const { server } = mcp;
  server.registerCapabilities(EXTENSION);
  const first = async <T>(taskId: string, ctx: ServerContext, ask: (from: TaskSource) => Promise<T>) => {
    if (!knowsTasks(mcp, ctx))
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: EXTENSION });
    for (const source of sources) {
      const found = await ask(source);
      if (found !== undefined) return found;
    }
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `There is no task ${JSON.stringify(taskId.slice(0, 100))}; it may have expired.`,
    );
  };
  server.setRequestHandler('tasks/get', { params: Named }, async ({ taskId }, ctx) => {
    const task = await first(taskId, ctx, (source) => source.get(taskId, ctx));
    return { resultType: 'complete', ...task };
  });
  server.setRequestHandler('tasks/cancel', { params: Named }, async ({ taskId }, ctx) => {
    await first(taskId, ctx, (source) => source.cancel(taskId, ctx));
    return { resultType: 'complete' };
  });
  server.setRequestHandler('tasks/update', { params: Named }, async ({ taskId }, ctx) => {
    const { inputResponses = {} } = ctx.mcpReq;
    await first(taskId, ctx, (source) => source.update(taskId, { ...inputResponses }, ctx));
    return { resultType: 'complete' };
  });
}

export const HEADER_MISMATCH = -32020;

/** What is wrong with the headers of a request about a task: they must name it, for proxies on the way. */
export function taskHeaderProblem({ headers }: IncomingMessage, body: unknown): string | undefined {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { taskId?: unknown } };
  if (typeof method !== 'string' || !/^tasks\/(?:get|update|cancel)$/.test(method)) return undefined;
  const taskId = params?.taskId;
  return typeof taskId !== 'string' || headers['mcp-name'] === taskId
    ? undefined
    : 'The header Mcp-Name must be the taskId of the request.';
}
