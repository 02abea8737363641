import { McpServer, type McpServerOptions, type ServerContext } from '@modelcontextprotocol/server';
import { VERSION } from '../base/version.js';
import type { Pungi } from '../pungi.js';
import { promptsFor } from './prompts/index.js';
import { toolsFor } from './tools/index.js';

/** More than the tools of Python, for every server that a door makes. */
export interface Extension {
  options?: McpServerOptions;
  register(server: McpServer): void;
}

const INSTRUCTIONS = [
  'Runs Python in a fresh sandbox for every call: execute_python for code, execute_python_file for a file of the server.',
  'Code sees the packages of its environment (list_packages). Get others with install_packages, or name them in a "# /// script" block at the top of the code.',
  'Keep sets of packages apart in named environments: create_venv, list_venvs, delete_venv; then pass venvName.',
  'analyze_code looks at code without running it. Use health_check when calls fail for no visible reason.',
].join('\n');

const CAPABILITIES = { tools: { listChanged: false }, prompts: { listChanged: false }, completions: {} };

/** A door calls the result for every server that it needs: one a connection, or one a request. */
export function createServerFactory(pungi: Pungi, extension?: Extension): () => McpServer {
  const tools = toolsFor(pungi.config);
  const prompts = promptsFor(pungi);
  return () => {
    const server = new McpServer(
      { name: 'pungi', title: 'Pungi', version: VERSION },
      { capabilities: CAPABILITIES, instructions: INSTRUCTIONS, ...extension?.options },
    );
    for (const { name, answer, ...advertised } of tools) {
      server.registerTool(name, advertised, (args: unknown, ctx: ServerContext) =>
        answer(args, { pungi, client: clientOf(server, ctx), ctx }),
      );
    }
    for (const { name, word, ...advertised } of prompts) {
      server.registerPrompt(name, advertised, (args) => ({
        messages: [{ role: 'user', content: { type: 'text', text: word(args) } }],
      }));
    }
    extension?.register(server);
    return server;
  };
}

/**
 * Whose share of the queue a call takes: the session's, where there is one. A modern client has none and spreads its
 * calls over connections, so it is known by the name that it gives with each.
 */
function clientOf({ server }: McpServer, { sessionId }: ServerContext): string {
  const { name, version } = server.getClientVersion() ?? { name: 'anonymous', version: '' };
  return (sessionId ?? `${name} ${version}`).slice(0, 200);
}
