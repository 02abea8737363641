import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { startHttp } from '../../src/mcp/http.js';
import { Pungi } from '../../src/pungi.js';
import { MAIN } from '../support/main.js';
import { temporaryFolder } from '../support/places.js';

export type Era = 'modern' | 'legacy';
export type Settings = Record<string, string>;

export interface Connection {
  client: Client;
  /** Another client of the same server; over stdio, of another process of it. */
  another(): Promise<Client>;
  close(): Promise<void>;
}

export const newClient = (era: Era, name = 'tests') =>
  new Client(
    { name, version: '1.0.0' },
    { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  );

/** Environments, the audit trail and the tools folder of whoever runs the tests are not the tests' own. */
export const NO_ENVIRONMENTS = {
  VENVS_BASE_PATH: join(tmpdir(), 'pungi-tests-have-no-environments'),
  AUDIT_DIR: join(temporaryFolder(), 'audit'),
  TOOLS_DIR: 'off',
};

async function connectStdio(era: Era, settings: Settings): Promise<Connection> {
  const clients: Client[] = [];
  const connect = async () => {
    const client = newClient(era);
    const { PATH = '', HOME = '' } = process.env;
    const env = { PATH, HOME, ...NO_ENVIRONMENTS, ...settings };
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [MAIN, 'serve'], env }));
    clients.push(client);
    return client;
  };
  return { client: await connect(), another: connect, close: () => closeAll(clients) };
}

async function connectHttp(era: Era, settings: Settings): Promise<Connection> {
  const pungi = Pungi.start(loadConfig({ env: { ...NO_ENVIRONMENTS, ...settings } }));
  const door = await startHttp(pungi);
  const clients: Client[] = [];
  const connect = async () => {
    const client = newClient(era);
    await client.connect(new StreamableHTTPClientTransport(new URL(door.url)));
    clients.push(client);
    return client;
  };
  const close = async () => {
    await closeAll(clients);
    await door.close();
    await pungi.close();
  };
  return { client: await connect(), another: connect, close };
}

async function closeAll(clients: Client[]): Promise<void> {
  await Promise.all(clients.map((client) => client.close()));
}

/** Real servers behind every door: both protocol eras, over stdio and over HTTP. */
export const DOORS = [
  { era: 'modern', transport: 'stdio', connect: connectStdio },
  { era: 'legacy', transport: 'stdio', connect: connectStdio },
  { era: 'modern', transport: 'HTTP', connect: connectHttp },
  { era: 'legacy', transport: 'HTTP', connect: connectHttp },
] as const;

/** Declares the same tests behind every door. */
export function behindEveryDoor(
  settings: Settings,
  declare: (door: () => Connection, era: Era) => void,
): void {
  describe.each(DOORS)('$era client over $transport', ({ era, connect }) => {
    let connection: Connection;
    beforeAll(async () => {
      connection = await connect(era, settings);
    });
    afterAll(() => connection.close());
    declare(() => connection, era);
  });
}
