import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readJsonBody } from '../src/http/body.js';
import { ClientTurns } from '../src/http/client-turns.js';
import { LegacySessions } from '../src/http/legacy-sessions.js';

const clock = { now: 0 };
let sessions: LegacySessions;
let server: Server;
let url: URL;
/** Calls of the tool that is not answered before it is released. */
let hanging = 0;
let release = () => {};
/** What a request waits for before it is handled. */
let held: Promise<void> | undefined;

beforeEach(async () => {
  clock.now = 0;
  held = undefined;
  hanging = 0;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const makeServer = () => {
    const mcp = new McpServer({ name: 'test', version: '1' });
    mcp.registerTool('hang', {}, async () => {
      hanging += 1;
      await released;
      return { content: [] };
    });
    return mcp;
  };
  sessions = new LegacySessions(makeServer, new ClientTurns(), { max: 2, idleMs: 1000 }, () => clock.now);
  server = createServer(async (req, res) => {
    const body = req.method === 'POST' ? await readJsonBody(req) : undefined;
    if (held !== undefined) await held;
    await sessions.handle(req, res, body?.kind === 'json' ? body.value : undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterEach(async () => {
  await sessions.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Connected, and with its standing stream open, which keeps the session in use. */
async function connect(): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const listening = new Promise<void>((resolve) => {
    server.on('request', ({ method }) => method === 'GET' && resolve());
  });
  await client.connect(new StreamableHTTPClientTransport(url));
  await listening;
  return client;
}

const sessionOf = (response: Response) => ({
  'mcp-session-id': response.headers.get('mcp-session-id') ?? '',
});

const end = (response: Response) => fetch(url, { method: 'DELETE', headers: sessionOf(response) });

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** A call that is answered when it is let go. */
async function call(response: Response): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'hang' } });
  const reply = await fetch(url, { method: 'POST', headers: { ...HEADERS, ...sessionOf(response) }, body });
  await reply.text();
}

/** A client without the standing stream that the official one keeps open. */
async function initialize(name = 'raw'): Promise<Response> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name, version: '1' },
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  await response.text();
  return response;
}

test('an idle session expires', async () => {
  await initialize();
  clock.now = 999;
  await sessions.expire();
  expect(sessions.count).toBe(1);
  clock.now = 1000;
  await vi.waitFor(async () => {
    await sessions.expire();
    expect(sessions.count).toBe(0);
  });
});

test('a session in use does not expire', async () => {
  const client = await connect();
  clock.now = 1_000_000;
  await sessions.expire();
  expect(sessions.count).toBe(1);
  await expect(client.listTools()).resolves.toMatchObject({ tools: [{ name: 'hang' }] });
  await client.close();
});

test('a new session takes the place of the one that was idle longest', async () => {
  const first = await initialize();
  clock.now = 1;
  const second = await initialize();
  clock.now = 2;
  expect((await initialize()).status).toBe(200);
  expect(sessions.count).toBe(2);
  expect((await end(first)).status).toBe(404);
  expect((await end(second)).status).toBe(200);
});

test('a session whose stream is open but that waits for nothing gives way to a new client', async () => {
  const clients = [await connect(), await connect()];
  expect((await initialize()).status).toBe(200);
  expect(sessions.count).toBe(2);
  await Promise.all(clients.map((client) => client.close()));
});

test('of many sessions, those of the client that has the most give way first, however recently it used them', async () => {
  const first = await initialize('honest');
  for (clock.now = 1; clock.now < 10; clock.now += 1) await initialize('greedy');
  expect((await end(first)).status).toBe(200);
});

test('a client with many sessions, all of them busy, does not take the place of one with few', async () => {
  const first = await initialize('honest');
  const waiting = call(await initialize('greedy'));
  await vi.waitFor(() => expect(hanging).toBe(1));
  expect((await initialize('greedy')).status).toBe(503);
  release();
  await waiting;
  expect((await initialize('greedy')).status).toBe(200);
  expect((await end(first)).status).toBe(200);
});

test('while every session waits for a reply, another client is refused with 503', async () => {
  const waiting = [await initialize(), await initialize()].map(call);
  await vi.waitFor(() => expect(hanging).toBe(2));
  expect((await initialize()).status).toBe(503);
  release();
  await Promise.all(waiting);
});

test('clients that come together do not get more places than there are', async () => {
  let arrived = 0;
  held = new Promise((resolve) => {
    server.on('request', () => ++arrived === 10 && resolve());
  });
  await Promise.all(Array.from({ length: 10 }, () => initialize()));
  expect(sessions.count).toBeLessThanOrEqual(2);
});

test('a session that its client ends is gone', async () => {
  const client = await connect();
  await (client.transport as StreamableHTTPClientTransport).terminateSession();
  expect(sessions.count).toBe(0);
});
