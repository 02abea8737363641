import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { Health } from '../../core/src/contract/health.js';
import { Outcome } from '../../core/src/contract/outcome.js';

export interface Reply {
  /** The outcome that the structured content repeats. */
  outcome: Outcome;
  /** What the model reads, block by block. */
  texts: string[];
  isError: boolean;
}

export async function execute(
  client: Client,
  args: Record<string, unknown>,
  tool = 'execute_python',
): Promise<Reply> {
  const result = await client.callTool({ name: tool, arguments: args });
  return {
    outcome: Outcome.parse(result.structuredContent),
    texts: textsOf(result),
    isError: result.isError === true,
  };
}

export const textsOf = ({ content }: CallToolResult) =>
  content.map((block) => (block.type === 'text' ? block.text : block.type));

/** What a tool gave back that runs nothing. */
export interface Answer {
  text: string;
  isError: boolean;
  /** Nothing where it failed. */
  data: unknown;
}

export const answerOf = (result: CallToolResult): Answer => ({
  text: textsOf(result).join('\n'),
  isError: result.isError === true,
  data: result.structuredContent,
});

export async function call(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Answer> {
  return answerOf(await client.callTool({ name, arguments: args }));
}

export async function healthOf(client: Client): Promise<Health> {
  return Health.parse((await client.callTool({ name: 'health_check' })).structuredContent);
}

/** In the order in which they are listed: what an agent needs most comes first. */
export const TOOLS = [
  'execute_python',
  'execute_python_file',
  'execute_strategic_code',
  'list_profiles',
  'analyze_code',
  'list_packages',
  'install_packages',
  'uninstall_packages',
  'list_venvs',
  'create_venv',
  'set_venv_description',
  'delete_venv',
  'list_sessions',
  'end_session',
  'read_file',
  'health_check',
];
