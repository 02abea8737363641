import { once } from 'node:events';
import { createServer, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RequestQueue } from '../src/http/request-queue.js';

let server: Server;
/** The paths of requests that Node has emitted, and the responses of those that are handled, until they close. */
let emitted: string[];
let handled: Map<string, ServerResponse>;

beforeEach(async () => {
  emitted = [];
  handled = new Map();
  const queues = new Map<Socket, RequestQueue>();
  server = createServer((req, res) => {
    const path = req.url!;
    emitted.push(path);
    const queue = queues.get(req.socket) ?? new RequestQueue(req.socket);
    queues.set(req.socket, queue);
    queue.add(res, () => {
      if (path === '/at-once') return void res.end();
      handled.set(path, res);
      req.resume();
      res.once('close', () => handled.delete(path));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const port = () => (server.address() as AddressInfo).port;

/** A client that sends all of these without waiting for replies. */
function send(requests: string): Socket {
  const socket = connect(port(), '127.0.0.1').on('error', () => {});
  socket.write(requests);
  return socket;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const post = (path: string, bytes: number) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`;

/** Another client's request and its reply, which take some turns of the event loop. */
async function roundTrip(): Promise<void> {
  const req = request({ port: port(), path: '/at-once', agent: false }).end();
  const [res] = await once(req, 'response');
  await once(res.resume(), 'close');
}

const isHandled = (path: string) => vi.waitFor(() => expect([...handled.keys()]).toEqual([path]));

test('requests that come together are handled one by one, in their order', async () => {
  const client = send(get('/1') + get('/2') + get('/3'));
  await vi.waitFor(() => expect(emitted).toEqual(['/1', '/2', '/3']));
  for (const path of ['/1', '/2', '/3']) {
    await isHandled(path);
    handled.get(path)!.end(`reply to ${path}.`);
  }
  let read = '';
  for await (const chunk of client) {
    read += chunk;
    if (read.includes('to /3')) break;
  }
  expect(read.match(/to .../g)).toEqual(['to /1.', 'to /2.', 'to /3.']);
});

test.each([10, 20_000, 60_000, 200_000])(
  'while requests of %d bytes wait, no more are read from their connection',
  async (bytes) => {
    const paths = Array.from({ length: bytes < 1000 ? 10_000 : 40 }, (_, n) => `/${n}`);
    const client = send(paths.map((path) => post(path, bytes)).join('')).resume();
    await isHandled('/0');
    for (let turn = 0; turn < 20; turn += 1) await roundTrip();
    // Node reads up to 64 KiB at once.
    const mostAtOnce = 1 + 65_536 / post('/0', bytes).length;
    expect(emitted.filter((path) => path !== '/at-once').length).toBeLessThan(2 * mostAtOnce);
    for (const path of paths.slice(0, 4)) {
      await isHandled(path);
      handled.get(path)!.end();
    }
    client.destroy();
  },
);

test('a request that nothing follows is read, so that the end of its connection is noticed', async () => {
  const client = send(get('/1') + get('/2'));
  await isHandled('/1');
  handled.get('/1')!.end();
  await isHandled('/2');
  client.destroy();
  await vi.waitFor(() => expect(handled.size).toBe(0));
});

test('of a connection that ends, requests in line are not handled', async () => {
  send(get('/1') + get('/2')).resume();
  await vi.waitFor(() => expect(emitted).toHaveLength(2));
  handled.get('/1')!.destroy();
  await vi.waitFor(() => expect(handled.size).toBe(0));
  await roundTrip();
  expect(handled.size).toBe(0);
});

test('nor are those behind a response that ends the connection', async () => {
  const client = send(get('/1') + get('/2')).resume();
  await vi.waitFor(() => expect(emitted).toHaveLength(2));
  handled.get('/1')!.setHeader('connection', 'close').end();
  await once(client, 'close');
  expect(handled.size).toBe(0);
});
