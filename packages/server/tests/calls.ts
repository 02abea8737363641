import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { Health } from '../../core/src/contract/health.js';
import { Outcome } from '../../core/src/contract/outcome.js';

export interface Reply {
  /** The whole outcome, as programs find it. */
  outcome: Outcome;
  /** What a client passes on that passes on nothing else. */
  structured: unknown;
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
    outcome: Outcome.parse(result._meta?.['pungi/outcome']),
    structured: result.structuredContent,
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
  /** All of it, also where the reply shows less; where it failed, the error. */
  data: unknown;
}

export const answerOf = (result: CallToolResult): Answer => ({
  text: textsOf(result).join('\n'),
  isError: result.isError === true,
  data: result._meta?.['pungi/result'] ?? result.structuredContent,
});

export async function call(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Answer> {
  return answerOf(await client.callTool({ name, arguments: args }));
}

export async function healthOf(client: Client): Promise<Health> {
  return Health.parse((await call(client, 'health_check')).data);
}

/** In the order in which they are listed: what an agent needs most comes first. */
export const TOOLS = [
  'execute_python',
  'execute_strategic_code',
  'list_profiles',
  'read_output',
  'get_run',
  'cancel_run',
  'list_runs',
  'analyze_code',
  'list_packages',
  'install_packages',
  'uninstall_packages',
  'list_venvs',
  'create_venv',
  'set_venv_description',
  'delete_venv',
  'list_sessions',
  'checkpoint_session',
  'end_session',
  'read_file',
  'upload_file',
  'list_files',
  'health_check',
];
