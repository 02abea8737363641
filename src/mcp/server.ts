import {
  McpServer,
  type McpServerOptions,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { VERSION } from '../base/version.js';
import type { Config } from '../config/schema.js';
import type { Profiles } from '../gate/profiles/profiles.js';
import type { Pungi } from '../pungi.js';
import { promptsFor } from './prompts/index.js';
import { usablePersonas } from './tools/describe-profiles.js';
import { toolsFor } from './tools/index.js';
import type { Who } from './tools/tool.js';
import { answerWrapped } from './wrapped/answer-wrapped.js';
import { announceChanges, serveWrapped } from './wrapped/serve-wrapped.js';
import { wrappingTools } from './wrapped/wrapping-tools.js';

/** More than the tools of Python, for every server that a door makes. */
export interface Extension {
  options?: McpServerOptions;
  register(server: McpServer): void;
}

const instructionsFor = ({ environmentTools, toolsDir, wrapTools }: Config, profiles: Profiles) =>
  [
    'Runs Python in a fresh sandbox for every call: execute_python for code, execute_python_file for a file of the server.',
    `Code sees the packages of its environment (list_packages). ${environmentTools ? 'Get others with install_packages, or name them' : 'Name others'} in a "# /// script" block at the top of the code.`,
    environmentTools
      ? 'Keep sets of packages apart in named environments: create_venv, list_venvs, delete_venv; then pass venvName.'
      : 'Other sets of packages are in named environments: list_venvs; then pass venvName.',
    'A profile sets rules for code, and brings data and packages along: see list_profiles, and pass profile.',
    ...(usablePersonas(profiles).length > 0
      ? ['Strategic analysis as one of the personas goes with execute_strategic_code.']
      : []),
    ...(toolsDir !== undefined && toolsDir !== 'off'
      ? ["Other tools are made of this server's own Python scripts: list_wrapped tells of them."]
      : []),
    ...(wrapTools && toolsDir !== 'off' ? ['Make tools of a script of yours with wrap_script.'] : []),
    'analyze_code looks at code without running it. Use health_check when calls fail for no visible reason.',
  ].join('\n');

const CAPABILITIES: ServerCapabilities = { prompts: { listChanged: false }, completions: {} };

/** `lives`: the server serves its client for as long as the connection lasts, and tells it of changes. */
export type MakeServer = (how?: { lives: boolean }) => McpServer;

/** A door calls the result for every server that it needs: one a connection, or one a request. */
export function createServerFactory(pungi: Pungi, extension?: Extension): MakeServer {
  const { config, profiles, wrapped } = pungi;
  const tools = [...toolsFor(config, profiles), ...wrappingTools(config)];
  const prompts = promptsFor(pungi);
  const instructions = instructionsFor(config, profiles);
  const { capabilities, ...options } = extension?.options ?? {};
  const { tools: toolsCapability = {}, ...others } = capabilities ?? CAPABILITIES;
  const listChanged = wrapped.folder !== null;
  return ({ lives } = { lives: false }) => {
    const server = new McpServer(
      { name: 'pungi', title: 'Pungi', version: VERSION },
      { capabilities: others, instructions, ...options },
    );
    const callOf = (ctx: ServerContext) => ({ pungi, who: whoAsks(server, ctx), ctx });
    serveWrapped(
      server,
      wrapped,
      (tool, args, ctx) => answerWrapped(tool, args, callOf(ctx)),
      () => {
        server.server.registerCapabilities({ tools: { listChanged, ...toolsCapability } });
        for (const { name, answer, ...advertised } of tools) {
          server.registerTool(name, advertised, (args: unknown, ctx: ServerContext) =>
            answer(args, callOf(ctx)),
          );
        }
        for (const { name, word, ...advertised } of prompts) {
          server.registerPrompt(name, advertised, (args) => ({
            messages: [{ role: 'user', content: { type: 'text', text: word(args) } }],
          }));
        }
        extension?.register(server);
      },
    );
    if (lives) announceChanges(server, wrapped);
    return server;
  };
}

/** A modern client has no session and spreads its calls over connections: it is known by its name alone. */
function whoAsks({ server }: McpServer, { sessionId }: ServerContext): Who {
  const { name, version } = server.getClientVersion() ?? { name: 'anonymous', version: '' };
  const client = `${name} ${version}`.trim().slice(0, 200);
  return sessionId === undefined ? { client } : { client, session: sessionId.slice(0, 200) };
}
