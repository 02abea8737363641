import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { RoomForBodies } from '../src/http/body.js';
import { type ConnectionLimits, Connections } from '../src/http/connections.js';

const LIMITS: ConnectionLimits = {
  max: 3,
  unreadBytes: 1024 * 1024,
  stalledMs: 3_600_000,
  requestMs: 3_600_000,
};
let server: Server;
let connections: Connections;

afterEach(() => {
  connections.close();
  server.closeAllConnections();
  server.close();
});

/** /stream stays open, /wait waits for its answer, /large is 32 MB. */
async function listen(limits: Partial<ConnectionLimits> = {}): Promise<void> {
  server = createServer();
  connections = new Connections(server, { ...LIMITS, ...limits });
  const handle = connections.inOrder((req, res) => {
    connections.begin(req, res, req.url === '/stream');
    if (req.url === '/large') res.end(Buffer.alloc(32 * 1024 * 1024));
    else if (req.url === '/') res.end('done');
    else res.writeHead(200).flushHeaders();
  });
  server.on('request', handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

/** A client by hand; resolved when the server has taken its connection, or its request. */
async function open(path?: string): Promise<Socket> {
  const accepted = once(server, path === undefined ? 'connection' : 'request');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  if (path !== undefined) socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await accepted;
  return socket;
}

const isCutOff = (socket: Socket) => once(socket.resume(), 'close');

test('a connection without a request gives way to a new one, then one that only listens', async () => {
  await listen();
  const waiting = await open('/wait');
  const listening = await open('/stream');
  const silent = await open();
  const another = await open('/wait');
  await isCutOff(silent);
  const last = await open('/wait');
  await isCutOff(listening);
  expect(connections.count).toBe(3);
  for (const socket of [waiting, another, last]) expect(socket.readyState).toBe('open');
});

test('a connection whose client sends without waiting for replies gives way first', async () => {
  await listen();
  const impatient = await open('/wait');
  const [silent, listening] = [await open(), await open('/stream')];
  const second = once(server, 'request');
  impatient.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await second;
  await open('/wait');
  await isCutOff(impatient);
  for (const socket of [silent, listening]) expect(socket.readyState).toBe('open');
});

test('where every connection waits for an answer, the oldest gives way: a new client is never locked out', async () => {
  await listen();
  const first = await open('/wait');
  await open('/wait');
  await open('/wait');
  const fresh = await open('/');
  await isCutOff(first);
  fresh.resume();
  await once(fresh, 'data');
});

test('a client that does not read is cut off while too much waits for it', async () => {
  await listen();
  const slow = await open('/large');
  slow.pause();
  await vi.waitFor(() => {
    connections.sweep();
    expect(connections.count).toBe(0);
  });
});

test('a client that reads nothing of its reply for long is cut off', async () => {
  await listen({ stalledMs: 50, unreadBytes: Number.POSITIVE_INFINITY });
  const slow = await open('/large');
  slow.pause();
  await vi.waitFor(() => expect(connections.count).toBe(0));
});

test('a stream that stays silent, and a call that takes long, are not cut off', async () => {
  await listen({ stalledMs: 20 });
  const silent = [await open('/stream'), await open('/wait')];
  // Of the three, the one without a request is told apart: once it is gone, the others have been looked at, too.
  await isCutOff(await open());
  expect(silent.map(({ readyState }) => readyState)).toEqual(['open', 'open']);
});

test('a stream with a request in line behind it, which it keeps from being answered, is cut off', async () => {
  await listen({ stalledMs: 20 });
  const client = await open('/stream');
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await isCutOff(client);
});

test('requests that send much and slowly give way to new ones, and small ones always find room', async () => {
  await listen();
  const room = new RoomForBodies(300_000);
  const requests = Array.from({ length: 4 }, () => {
    const destroyed = { is: false };
    return { destroyed, req: { destroy: () => (destroyed.is = true) } as never };
  });
  const [first, second, third, small] = requests as [(typeof requests)[0], ...typeof requests];
  expect(room.take(first.req, 200_000)).toBe(true);
  expect(room.take(second!.req, 200_000)).toBe(true);
  expect(first.destroyed.is).toBe(true);
  room.complete(second!.req);
  expect(room.take(third!.req, 200_000)).toBe(false);
  expect(room.take(small!.req, 50_000)).toBe(true);
  for (const { req } of requests) room.release(req);
  expect(room.bytes).toBe(0);
});
