import {
  CLIENT_INFO_META_KEY,
  type Implementation,
  McpServer,
  type McpServerOptions,
  ResourceTemplate,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Pungi } from '@pungi/core';
import { VERSION } from '@pungi/core/base';
import { isServed } from '@pungi/core/config';
import { type Caller, callerOf } from '@pungi/core/contract';
import type { Wrapping } from '@pungi/wrap';
import { instructionsFor } from './instructions.js';
import { once } from './once.js';
import { serveOutputs } from './output-resources.js';
import { promptsFor } from './prompts.js';
import { announceChanges, serveTools } from './serve-tools.js';
import { knowsTasks, serveTasks, type TaskSource } from './tasks.js';
import { backgroundTasks } from './tools/background.js';
import { serverNameOf } from './tools/descriptions.js';
import { servesOutputs, toolsFor } from './tools/index.js';
import { readResource } from './tools/read-file.js';
import type { Call, Tool } from './tools/tool.js';
import { serveViewer } from './viewer.js';
import { wrappingTools } from './wrapped/wrapping-tools.js';

/** Adds to the built-in tools, in every server that a door creates. */
export interface Extension {
  options?: McpServerOptions;
  /** Registers prompts and resources, and returns the tools. */
  register(server: McpServer): Tool[];
  /** Tasks that its tools create. */
  tasks?: TaskSource;
}

/** The first protocol whose results can contain links to resources. */
const LINKS_SINCE = '2025-06-18';

const CAPABILITIES: ServerCapabilities = { prompts: { listChanged: false }, completions: {} };

/** `lives`: the server lives as long as its connection, and notifies its client of changes. */
export type MakeServer = (how?: { lives: boolean }) => McpServer;

/** A door calls the returned function once per connection, or once per request. */
export function createServerFactory(pungi: Pungi, wrapping: Wrapping, extension?: Extension): MakeServer {
  const { config, profiles } = pungi;
  const { scripts: wrapped } = wrapping;
  wrapped.watch();
  const tools = once(() => [
    ...toolsFor(config, profiles),
    ...(isServed(config, 'wrap') ? wrappingTools(config) : []),
  ]);
  const hasOutputs = servesOutputs(config, profiles);
  const prompts = promptsFor(pungi);
  const instructions = instructionsFor(config, profiles);
  const { capabilities, ...options } = extension?.options ?? {};
  const { tools: toolsCapability = {}, ...others } = capabilities ?? CAPABILITIES;
  const listChanged = wrapped.folder !== null;
  return ({ lives } = { lives: false }) => {
    const server = new McpServer(
      { ...serverNameOf(config), version: VERSION },
      { capabilities: others, instructions, ...options },
    );
    const callOf = (ctx: ServerContext): Call => {
      const hasLinks = (server.server.getNegotiatedProtocolVersion() ?? LINKS_SINCE) >= LINKS_SINCE;
      const caller = callerOfCall(server, ctx);
      return { pungi, wrapping, caller, ctx, hasLinks, knowsTasks: knowsTasks(server, ctx) };
    };
    serveTasks(server, [backgroundTasks(callOf), ...(extension?.tasks ? [extension.tasks] : [])]);
    server.server.registerCapabilities({ tools: { listChanged, ...toolsCapability } });
    for (const { name, format, ...advertised } of prompts) {
      server.registerPrompt(name, advertised, (args) => ({
        messages: [{ role: 'user', content: { type: 'text', text: format(args) } }],
      }));
    }
    if (hasOutputs) serveOutputs(server, callOf);
    if (config.artifactMb > 0) serveFiles(server, pungi);
    if (isServed(config, 'run')) serveViewer(server);
    const added = extension?.register(server) ?? [];
    serveTools(server, () => [...tools(), ...added], wrapped, callOf);
    if (lives) announceChanges(server, wrapped);
    return server;
  };
}

/** Files that runs left, under addresses that their replies name. */
function serveFiles(server: McpServer, pungi: Pungi): void {
  server.registerResource(
    'file of a run',
    new ResourceTemplate('pungi://run/{run}/{+path}', { list: undefined }),
    {
      title: 'A file of a run',
      description: 'A file that a run made or changed; the reply of the run links to it.',
      mimeType: 'application/octet-stream',
    },
    (uri, _, ctx) => readResource(pungi, uri.href, callerOfCall(server, ctx)),
  );
}

/**
 * A modern client has no session and spreads its calls over connections: only its name identifies it, which comes with each
 * request.
 */
function callerOfCall({ server }: McpServer, { sessionId, mcpReq }: ServerContext): Caller {
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined;
  const told = envelope?.[CLIENT_INFO_META_KEY] as Implementation | undefined;
  const { name, version } = told ?? server.getClientVersion() ?? { name: 'anonymous', version: '' };
  const client = `${name} ${version}`.trim();
  return callerOf({ client, ...(sessionId !== undefined && { connection: sessionId }) });
}
