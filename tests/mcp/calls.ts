import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { Health } from '../../src/contract/health.js';
import { Outcome } from '../../src/contract/outcome.js';

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

export async function healthOf(client: Client): Promise<Health> {
  return Health.parse((await client.callTool({ name: 'health_check' })).structuredContent);
}
