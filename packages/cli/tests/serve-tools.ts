import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { MAIN } from '../../../tests/support/main.js';
import { ownFolders } from '../../../tests/support/own-folders.js';

/** `pungi serve` with a tools folder, and a client of it. */
export async function serveTools(settings: Record<string, string>) {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, ...ownFolders(), AUDIT: 'false', ...settings };
  const client = new Client({ name: 'tests', version: '1' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [MAIN, 'serve'], env, stderr: 'ignore' }),
  );
  return {
    list: async () => (await client.listTools()).tools,
    call: (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
}

export type ToolServer = Awaited<ReturnType<typeof serveTools>>;
