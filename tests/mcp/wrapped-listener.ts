import { Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { loadConfig } from '../../src/config/load.js';
import { startHttp } from '../../src/mcp/http.js';
import { Pungi } from '../../src/pungi.js';
import { MAIN } from '../support/main.js';
import { type Era, NO_ENVIRONMENTS, type Settings } from './doors.js';

export interface Listener {
  client: Client;
  /** The tools of the latest list that the client fetched because it was told of a change. */
  heard(): Tool[] | undefined;
  close(): Promise<void>;
}

/** A client that fetches the list again whenever the server says that it has changed. */
function listeningClient(era: Era) {
  let latest: Tool[] | undefined;
  const client = new Client(
    { name: 'tests', version: '1.0.0' },
    {
      versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
      listChanged: {
        tools: {
          onChanged: (_, tools) => {
            latest = tools ?? latest;
          },
        },
      },
    },
  );
  return { client, heard: () => latest };
}

export async function listenOverStdio(era: Era, settings: Settings, flags: string[] = []): Promise<Listener> {
  const { client, heard } = listeningClient(era);
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, ...NO_ENVIRONMENTS, ...settings };
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [MAIN, 'serve', ...flags], env }),
  );
  return { client, heard, close: () => client.close() };
}

export async function listenOverHttp(era: Era, settings: Settings): Promise<Listener> {
  const { client, heard } = listeningClient(era);
  const pungi = Pungi.start(loadConfig({ env: { ...NO_ENVIRONMENTS, ...settings } }));
  const door = await startHttp(pungi);
  await client.connect(new StreamableHTTPClientTransport(new URL(door.url)));
  const close = async () => {
    await client.close();
    await door.close();
    await pungi.close();
  };
  return { client, heard, close };
}

export const LISTENERS = [
  { era: 'modern', transport: 'stdio', listen: listenOverStdio },
  { era: 'legacy', transport: 'stdio', listen: listenOverStdio },
  { era: 'modern', transport: 'HTTP', listen: listenOverHttp },
  { era: 'legacy', transport: 'HTTP', listen: listenOverHttp },
] as const;
