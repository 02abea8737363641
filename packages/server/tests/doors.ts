import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe } from 'vitest';
import { RUNS_ALL } from '../../../tests/support/long-tests.js';
import { MAIN } from '../../../tests/support/main.js';
import { ownFolders } from '../../../tests/support/own-folders.js';
import { lastingFolder } from '../../../tests/support/places.js';
import { loadConfig } from '../../core/src/config/load.js';
import { Pungi } from '../../core/src/pungi.js';
import { startHttp } from '../src/http.js';

export type Era = 'modern' | 'legacy';
export type Settings = Record<string, string>;

export interface Connection {
  client: Client;
  /** Another client of the same server; over stdio, of another process of it. */
  another(): Promise<Client>;
  close(): Promise<void>;
}

/** What only some tests need: words on the command line (over stdio), and a client that does more. */
interface Special {
  flags?: string[];
  options?: ClientOptions;
}

export const newClient = (era: Era, name = 'tests', options: ClientOptions = {}) =>
  new Client(
    { name, version: '1.0.0' },
    { ...options, versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  );

/** Environments, the audit trail and the tools folder of whoever runs the tests are not the tests' own. */
export const NO_ENVIRONMENTS = {
  VENVS_BASE_PATH: join(tmpdir(), 'pungi-tests-have-no-environments'),
  AUDIT_DIR: join(lastingFolder(), 'audit'),
  TOOLS_DIR: 'off',
};

async function connectStdio(
  era: Era,
  settings: Settings,
  { flags = [], options }: Special = {},
): Promise<Connection> {
  const clients: Client[] = [];
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, ...ownFolders(), ...NO_ENVIRONMENTS, ...settings };
  const args = [MAIN, 'serve', ...flags];
  const connect = async () => {
    const client = newClient(era, 'tests', options);
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
    clients.push(client);
    return client;
  };
  return { client: await connect(), another: connect, close: () => closeAll(clients) };
}

async function connectHttp(era: Era, settings: Settings, { options }: Special = {}): Promise<Connection> {
  const pungi = Pungi.start(loadConfig({ env: { ...NO_ENVIRONMENTS, ...settings } }), undefined, 'server');
  const door = await startHttp(pungi);
  const clients: Client[] = [];
  const connect = async () => {
    const client = newClient(era, 'tests', options);
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

/**
 * Each era and each transport once: for what a tool says and does, which no longer depends on the way by which a call came.
 * That calls come and go by every way is shown behind all four.
 */
export const TWO_DOORS = [DOORS[1], DOORS[2]] as const;

type Declare = (door: () => Connection, era: Era) => void;

const behind = (doors: readonly (typeof DOORS)[number][]) => (settings: Settings, declare: Declare) =>
  describe.each(doors)('$era client over $transport', ({ era, connect }) => {
    let connection: Connection;
    beforeAll(async () => {
      connection = await connect(era, settings);
    });
    afterAll(() => connection.close());
    declare(() => connection, era);
  });

/** Declares the same tests behind every door; where people wait for the tests, behind two. */
export const behindEveryDoor = behind(RUNS_ALL ? DOORS : TWO_DOORS);
export const behindTwoDoors = behind(TWO_DOORS);
