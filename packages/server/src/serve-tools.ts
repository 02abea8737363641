import {
  type Tool as AdvertisedTool,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { PungiError, similarName } from '@pungi/core/base';
import type { WrappedScripts } from '@pungi/wrap';
import { budgetOf } from './fit.js';
import { replyError } from './reply.js';
import type { Call, Tool } from './tools/tool.js';
import { advertisedTools, answerWrapped } from './wrapped/answer-wrapped.js';
import { LIST_WRAPPED } from './wrapped/list-wrapped.js';

/**
 * Answers `tools/list` and `tools/call` with the built-in tools and the wrapped ones. Wrapped tools are looked up per
 * request, so every server sees a change immediately, and a server for a single request costs nothing.
 */
export function serveTools(
  { server }: McpServer,
  tools: readonly Tool[],
  wrapped: WrappedScripts,
  callOf: (ctx: ServerContext) => Call,
): void {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  server.setRequestHandler('tools/list', async () => {
    await wrapped.settled();
    const offered = wrapped.isOffered ? tools : tools.filter(({ name }) => name !== LIST_WRAPPED);
    return { tools: [...offered.map(advertise), ...advertisedTools(wrapped.tools)] };
  });
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args } }, ctx) => {
    const own = byName.get(name);
    if (own !== undefined) return answerOwn(own, args, callOf(ctx));
    // A client may know a tool from before the server restarted.
    if (!wrapped.tools.has(name)) await wrapped.settled();
    const tool = wrapped.tools.get(name);
    if (tool !== undefined) return answerWrapped(tool, args, callOf(ctx));
    const meant = similarName(name, [...byName.keys(), ...wrapped.tools.keys()]);
    const advice = meant === undefined ? '' : `; did you mean ${meant}?`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${name} not found${advice}`);
  });
}

const advertise = ({ answer: _, ...advertised }: Tool): AdvertisedTool => advertised;

async function answerOwn({ answer }: Tool, args: unknown, call: Call): ReturnType<Tool['answer']> {
  try {
    return await answer(args, call);
  } catch (error) {
    return replyError(PungiError.from(error), budgetOf(call.pungi.config));
  }
}

/** Notifies the client of a long-lived server when the wrapped tools change. */
export function announceChanges(server: McpServer, wrapped: WrappedScripts): void {
  const { server: protocol } = server;
  const stop = wrapped.onChange(() => server.sendToolListChanged());
  const before = protocol.onclose;
  protocol.onclose = () => {
    stop();
    before?.();
  };
}
