// Pungi as agents use it: a server process, and the official client at the other end of its stdio.

import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ownFolders } from '../folder.mjs';
import { serverSettings } from './server-settings.mjs';

export const MAIN = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));

const overStdio = (era, mode) => ({
  id: `mcp-${era}`,
  name: `Pungi, MCP over stdio, ${era} client`,
  async open(workload) {
    const { code } = workload;
    const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [MAIN, 'serve'],
        env: {
          PATH: process.env.PATH ?? '',
          HOME: process.env.HOME ?? '',
          ...ownFolders(),
          ...serverSettings(workload),
        },
      }),
    );
    return {
      /** Waits until the environment has its packages. */
      async installed() {
        await client.callTool(
          { name: 'execute_python', arguments: { code: 'import numpy' } },
          { timeout: 300_000 },
        );
      },
      async run() {
        const { isError, structuredContent } = await client.callTool({
          name: 'execute_python',
          arguments: { code },
        });
        if (isError) throw new Error(`the call failed: ${JSON.stringify(structuredContent).slice(0, 500)}`);
        return structuredContent.stdout ?? '';
      },
      close: () => client.close(),
    };
  },
});

export const mcpModern = overStdio('modern', { pin: '2026-07-28' });
export const mcpLegacy = overStdio('legacy', 'legacy');
