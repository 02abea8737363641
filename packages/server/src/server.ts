import {
  McpServer,
  type McpServerOptions,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Pungi } from '@pungi/core';
import { VERSION } from '@pungi/core/base';
import { type Caller, callerOf } from '@pungi/core/contract';
import type { Wrapping } from '@pungi/wrap';
import { instructionsFor } from './instructions.js';
import { promptsFor } from './prompts.js';
import { announceChanges, serveTools } from './serve-tools.js';
import { isAlone, serverNameOf } from './tools/descriptions.js';
import { toolsFor } from './tools/index.js';
import type { Tool } from './tools/tool.js';
import { wrappingTools } from './wrapped/wrapping-tools.js';

/** More than the tools of Python, for every server that a door makes. */
export interface Extension {
  options?: McpServerOptions;
  /** Registers everything else than tools, and returns the tools. */
  register(server: McpServer): Tool[];
}

const CAPABILITIES: ServerCapabilities = { prompts: { listChanged: false }, completions: {} };

/** `lives`: the server serves its client for as long as the connection lasts, and tells it of changes. */
export type MakeServer = (how?: { lives: boolean }) => McpServer;

/** A door calls the result for every server that it needs: one a connection, or one a request. */
export function createServerFactory(pungi: Pungi, wrapping: Wrapping, extension?: Extension): MakeServer {
  const { config, profiles } = pungi;
  const { scripts: wrapped } = wrapping;
  wrapped.watch();
  const tools = [...toolsFor(config, profiles), ...(isAlone(config) ? [] : wrappingTools(config))];
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
    const callOf = (ctx: ServerContext) => ({ pungi, wrapping, caller: callerOfCall(server, ctx), ctx });
    server.server.registerCapabilities({ tools: { listChanged, ...toolsCapability } });
    for (const { name, word, ...advertised } of prompts) {
      server.registerPrompt(name, advertised, (args) => ({
        messages: [{ role: 'user', content: { type: 'text', text: word(args) } }],
      }));
    }
    serveTools(server, [...tools, ...(extension?.register(server) ?? [])], wrapped, callOf);
    if (lives) announceChanges(server, wrapped);
    return server;
  };
}

/** A modern client has no session and spreads its calls over connections: it is known by its name alone. */
function callerOfCall({ server }: McpServer, { sessionId }: ServerContext): Caller {
  const { name, version } = server.getClientVersion() ?? { name: 'anonymous', version: '' };
  const client = `${name} ${version}`.trim();
  return callerOf({ client, ...(sessionId !== undefined && { connection: sessionId }) });
}
