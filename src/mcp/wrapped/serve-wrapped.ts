import type {
  CallToolRequest,
  CallToolResult,
  ListToolsResult,
  McpServer,
  ServerContext,
} from '@modelcontextprotocol/server';
import { BUILT_IN_NAMES } from '../../wrap/tools-folder/name-tools.js';
import type { WrappedTool } from '../../wrap/tools-folder/wrapped-script.js';
import type { WrappedScripts } from '../../wrap/tools-folder/wrapped-scripts.js';
import { advertisedTools } from './answer-wrapped.js';
import { LIST_WRAPPED } from './list-wrapped.js';

type AnswerWrapped = (tool: WrappedTool, args: unknown, ctx: ServerContext) => Promise<CallToolResult>;
type List = (request: unknown, ctx: ServerContext) => Promise<ListToolsResult>;
type CallTool = (request: CallToolRequest, ctx: ServerContext) => Promise<unknown>;
// biome-ignore lint/suspicious/noExplicitAny: the handlers of all methods go through here
type SetHandler = (method: string, handler: any) => void;

/**
 * Adds wrapped tools to a server whose own tools `register` registers. They are looked up when a client asks, so that every
 * server knows of a change at once, and making one for a single request costs nothing.
 */
export function serveWrapped(
  server: McpServer,
  wrapped: WrappedScripts,
  answer: AnswerWrapped,
  register: () => void,
): void {
  const { server: protocol } = server;
  const set = protocol.setRequestHandler.bind(protocol) as SetHandler;
  const list =
    (own: List): List =>
    async (request, ctx) => {
      await wrapped.settled();
      const { tools, ...rest } = await own(request, ctx);
      const shown = wrapped.isOffered ? tools : tools.filter(({ name }) => name !== LIST_WRAPPED);
      return { ...rest, tools: [...shown, ...advertisedTools(wrapped.tools)] };
    };
  const call =
    (own: CallTool): CallTool =>
    async (request, ctx) => {
      const { name, arguments: args } = request.params;
      // A client may know of a tool from an earlier life of this server.
      if (!wrapped.tools.has(name) && !BUILT_IN_NAMES.includes(name)) await wrapped.settled();
      const tool = wrapped.tools.get(name);
      return tool === undefined ? own(request, ctx) : answer(tool, args, ctx);
    };
  const between: SetHandler = (method, handler) => {
    if (method === 'tools/list') set(method, list(handler as List));
    else if (method === 'tools/call') set(method, call(handler as CallTool));
    else set(method, handler);
  };
  protocol.setRequestHandler = between as typeof protocol.setRequestHandler;
  try {
    register();
  } finally {
    protocol.setRequestHandler = set as typeof protocol.setRequestHandler;
  }
}

/** Tells the client of a server that lives as long as its connection when there are other tools. */
export function announceChanges(server: McpServer, wrapped: WrappedScripts): void {
  const { server: protocol } = server;
  const stop = wrapped.onChange(() => server.sendToolListChanged());
  const before = protocol.onclose;
  protocol.onclose = () => {
    stop();
    before?.();
  };
}
