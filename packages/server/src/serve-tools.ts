import {
  type Tool as AdvertisedTool,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { PungiError, similarName } from '@pungi/core/base';
import type { WrappedScripts } from '@pungi/wrap';
import { budgetOf } from './fit.js';
import { once } from './once.js';
import { replyError } from './reply.js';
import type { Call, Tool } from './tools/tool.js';
import { withViewer } from './viewer.js';
import { advertisedTools, answerWrapped } from './wrapped/answer-wrapped.js';
import { LIST_WRAPPED } from './wrapped/list-wrapped.js';

/**
 * Answers `tools/list` and `tools/call` with the built-in tools and the wrapped ones. Wrapped tools are looked up per
 * request, so every server sees a change immediately, and a server for a single request costs nothing.
 */
export function serveTools(
  { server }: McpServer,
  listTools: () => readonly Tool[],
  wrapped: WrappedScripts,
  callOf: (ctx: ServerContext) => Call,
): void {
  // Their schemas take a moment, for which no client waits to be connected.
  const own = once(() => new Map(listTools().map((tool) => [tool.name, tool])));
  server.setRequestHandler('tools/list', async (_, ctx) => {
    await wrapped.settled();
    const offered = [...own().values()].filter(({ name }) => wrapped.isOffered || name !== LIST_WRAPPED);
    const advertised = withViewer(offered.map(advertise), capabilitiesOf(server, ctx));
    return { tools: [...advertised, ...advertisedTools(wrapped.tools)] };
  });
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args } }, ctx) => {
    const found = own().get(name);
    if (found !== undefined) return answerOwn(found, args, callOf(ctx));
    // A client may know a tool from before the server restarted.
    if (!wrapped.tools.has(name)) await wrapped.settled();
    const tool = wrapped.tools.get(name);
    if (tool !== undefined) return answerWrapped(tool, args, callOf(ctx));
    const meant = similarName(name, [...own().keys(), ...wrapped.tools.keys()]);
    const advice = meant === undefined ? '' : `; did you mean ${meant}?`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${name} not found${advice}`);
  });
}

/** A modern client declares them with every request. */
const capabilitiesOf = (server: McpServer['server'], { mcpReq }: ServerContext) =>
  (mcpReq.envelope as Record<string, ClientCapabilities> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ??
  server.getClientCapabilities();

const advertise = ({ answer: _, ...advertised }: Tool): AdvertisedTool => advertised;

async function answerOwn({ answer }: Tool, args: unknown, call: Call): ReturnType<Tool['answer']> {
  try {
    return await answer(args, call);
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
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
