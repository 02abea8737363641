import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../bundle/main.js', import.meta.url));

/** What a person pastes into the settings of an MCP client that starts its servers itself. */
export const stdioClientConfiguration = () => ({
  mcpServers: { pungi: { command: process.execPath, args: [MAIN, 'serve'] } },
});

/** What a person pastes into the settings of an MCP client that connects to this server. */
export const httpClientConfiguration = (url: string) => ({ mcpServers: { pungi: { type: 'http', url } } });
