import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, test, vi } from 'vitest';
import { startHttp } from '../src/http.js';
import { newClient } from './doors.js';
import { sharedHttpDoor } from './http-door.js';

const shared = sharedHttpDoor();

const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
});
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** node:http, because fetch does not let a caller set Host. */
async function send(
  path: string,
  init: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
) {
  const { method = 'POST', headers = {}, body } = init;
  const req = request(new URL(path, shared.door.url), { method, headers: { ...HEADERS, ...headers } });
  req.on('error', () => {});
  req.end(body);
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  return { status: res.statusCode, headers: res.headers, body: await text(res) };
}

test.each([
  ['Host', { host: 'evil.example' }],
  ['Host that starts like ours', { host: '127.0.0.1.evil.example' }],
  ['Origin', { origin: 'http://evil.example' }],
  ['opaque Origin', { origin: 'null' }],
])('a foreign %s is refused, at every path', async (_what, headers: Record<string, string>) => {
  for (const path of ['/mcp', '/health', '/']) {
    expect(await send(path, { headers, body: INITIALIZE })).toMatchObject({ status: 403 });
  }
});

test.each([{ host: 'localhost:1234' }, { origin: 'http://localhost:6274' }, { origin: 'http://127.0.0.1' }])(
  'our own %j is served',
  async (headers: Record<string, string>) => {
    expect(await send('/mcp', { headers, body: INITIALIZE })).toMatchObject({ status: 200 });
  },
);

test.each(['0.0.0.0', '::', '192.168.0.1', 'example.com', ''])('binding to %j is refused', async (host) => {
  await expect(startHttp(shared.pungi, { host, port: 0 })).rejects.toMatchObject({
    code: 'CONFIGURATION_ERROR',
    message: expect.stringContaining('until authentication exists'),
  });
});

test.each(['127.0.0.1', 'localhost'])('binding to %s with port 0 tells a URL that works', async (host) => {
  const other = await startHttp(shared.pungi, { host, port: 0 });
  expect(other.url).toMatch(new RegExp(`^http://${host}:[1-9]\\d*/mcp$`));
  expect((await fetch(new URL('/health', other.url))).status).toBe(200);
  await other.close();
  await expect(fetch(new URL('/health', other.url))).rejects.toThrow();
});

test('a port that is taken is a configuration error that names it', async () => {
  const port = Number(new URL(shared.door.url).port);
  await expect(startHttp(shared.pungi, { port })).rejects.toMatchObject({
    code: 'CONFIGURATION_ERROR',
    message: expect.stringContaining(`${port}`),
  });
});

describe('a request that is too large is answered with 413', () => {
  const body = Buffer.alloc(9 * 1024 * 1024, ' ');
  test('by its announced length', async () => {
    expect(await send('/mcp', { body, headers: { 'content-length': `${body.length}` } })).toMatchObject({
      status: 413,
    });
  });
  test('or by what it sends', async () => {
    expect(await send('/mcp', { body, headers: { 'transfer-encoding': 'chunked' } })).toMatchObject({
      status: 413,
    });
  });
  test('and the server goes on', async () => {
    expect(await send('/mcp', { body: INITIALIZE })).toMatchObject({ status: 200 });
  });
});

test.each([
  ['levels of nesting', `${'['.repeat(4_000_000)}`],
  ['lists and objects', `[${'[],'.repeat(200_000)}[]]`],
  ['names in objects', `{${Array.from({ length: 400_000 }, (_, n) => `"a${n}":1`).join()}}`],
  ['values', `[${'1,'.repeat(1_100_000)}1]`],
])('a request with too many %s is refused before it is parsed', async (limit, json) => {
  const { status, body } = await send('/mcp', { body: `{"id":7,"method":"ping","params":${json}}` });
  expect(status).toBe(400);
  expect(JSON.parse(body)).toMatchObject({
    id: 7,
    error: { code: -32600, message: expect.stringMatching(`than \\d+ ${limit}:`) },
  });
});

test('hundreds of sessions with open streams do not lock out a new client', async () => {
  const streams: IncomingMessage[] = [];
  for (let turn = 0; turn < 300; turn += 1) {
    const { headers } = await send('/mcp', { body: INITIALIZE });
    const session = { 'mcp-session-id': String(headers['mcp-session-id']), accept: 'text/event-stream' };
    const req = request(new URL('/mcp', shared.door.url), { headers: session });
    req.on('error', () => {}).end();
    streams.push(((await once(req, 'response')) as [IncomingMessage])[0].on('error', () => {}));
  }
  const client = newClient('legacy');
  await client.connect(new StreamableHTTPClientTransport(new URL(shared.door.url)));
  await expect(client.ping()).resolves.toEqual({});
  await client.close();
  for (const stream of streams) stream.destroy();
});

test('a call behind a stream on the same connection does not keep its session when the connection ends', async () => {
  const door = await startHttp(shared.pungi, { sessions: { max: 1, idleMs: 3_600_000 } });
  const { headers } = await send(door.url, { body: INITIALIZE });
  const session = { 'mcp-session-id': String(headers['mcp-session-id']) };
  const head = `Host: localhost\r\nMcp-Session-Id: ${session['mcp-session-id']}\r\nContent-Type: application/json\r\n`;
  const client = connect(Number(new URL(door.url).port), '127.0.0.1');
  client.write(
    `GET /mcp HTTP/1.1\r\n${head}Accept: text/event-stream\r\n\r\n` +
      `POST /mcp HTTP/1.1\r\n${head}Accept: ${HEADERS.accept}\r\nContent-Length: ${PING.length}\r\n\r\n${PING}`,
  );
  await once(client, 'data');
  expect(await send(door.url, { headers: session, body: PING })).toMatchObject({ status: 200 });
  client.destroy();
  expect(await send(door.url, { body: INITIALIZE })).toMatchObject({ status: 200 });
  await door.close();
});

test('what is not JSON is answered with 400', async () => {
  const { status, body } = await send('/mcp', { body: '{' });
  expect(status).toBe(400);
  expect(JSON.parse(body)).toMatchObject({ error: { code: -32700 } });
});

test('a form cannot be posted', async () => {
  expect(await send('/mcp', { body: INITIALIZE, headers: { 'content-type': 'text/plain' } })).toMatchObject({
    status: 415,
  });
});

test('an unknown path is answered with 404 and the right one', async () => {
  const { status, body } = await send('/other', { method: 'GET' });
  expect(status).toBe(404);
  expect(body).toContain('/mcp');
});

test('/health tells the state in a few words', async () => {
  await shared.pungi.ready();
  const { status, body } = await send('/health', { method: 'GET' });
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual({
    status: 'healthy',
    version: expect.any(String),
    tier: expect.any(String),
    problem: null,
    alerts: [],
  });
});

test('a session that is not known is answered with 404, and none with 400', async () => {
  expect(await send('/mcp', { body: PING, headers: { 'mcp-session-id': 'unknown' } })).toMatchObject({
    status: 404,
  });
  expect(await send('/mcp', { body: PING })).toMatchObject({ status: 400 });
});

const SLEEP = {
  name: 'execute_python',
  arguments: { code: 'import time\nprint("started", flush=True)\ntime.sleep(1000)' },
};

async function startSleeping(client: Client): Promise<void> {
  const transport = new StreamableHTTPClientTransport(new URL(shared.door.url));
  await client.connect(transport);
  await new Promise<void>((resolve) => {
    client.callTool(SLEEP, { onprogress: () => resolve() }).catch(() => {});
  });
}

const untilNothingRuns = () =>
  vi.waitFor(async () => expect((await shared.pungi.health()).metrics.activeExecutions).toBe(0), {
    timeout: 10_000,
  });

test('a modern client that disconnects stops its run', async () => {
  const client = newClient('modern');
  await startSleeping(client);
  await client.close();
  await untilNothingRuns();
});

test('a legacy client that ends its session stops its run', async () => {
  const client = newClient('legacy');
  await startSleeping(client);
  await (client.transport as StreamableHTTPClientTransport).terminateSession();
  await untilNothingRuns();
  await client.close();
});

test('closing the door stops the runs of its clients', async () => {
  const other = await startHttp(shared.pungi);
  const clients = [newClient('modern'), newClient('legacy')];
  for (const client of clients) {
    await client.connect(new StreamableHTTPClientTransport(new URL(other.url)));
    await new Promise<void>((resolve) => {
      client.callTool(SLEEP, { onprogress: () => resolve() }).catch(() => {});
    });
  }
  await other.close();
  await untilNothingRuns();
  await Promise.all(clients.map((client) => client.close()));
});
