import { once } from 'node:events';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Capacity, type NetworkDecision, RunConnections } from '../../src/network/run-connections.js';

const TARGET = { host: { kind: 'name', text: 'api.example.com' }, port: 443 } as const;

test('a run that moves more than a gigabyte loses its network, and the reason is recorded once', async () => {
  const server = createServer((socket) => socket.on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const decisions: NetworkDecision[] = [];
  const connections = new RunConnections('run', (decision) => decisions.push(decision));
  connections.hold(socket);
  for (let gone = 0; gone < 1024; gone += 1) connections.count(TARGET, 1024 ** 2);
  expect([socket.destroyed, decisions]).toEqual([false, []]);
  connections.count(TARGET, 1);
  connections.count(TARGET, 1);
  expect(socket.destroyed).toBe(true);
  expect(decisions).toEqual([
    {
      run: 'run',
      host: 'api.example.com',
      port: 443,
      allowed: false,
      reason: 'The run moved more than 1024 MB and lost its network.',
      isLast: true,
    },
  ]);
  expect(connections.welcome(socket, false)).toBe(false);
  server.close();
});

test('where the server is full, a run still has a few connections', () => {
  const connections = new RunConnections('run', () => {});
  const welcomed = (isServerFull: boolean) =>
    Array.from({ length: 200 }, () => connections.welcome(new Socket(), isServerFull)).filter(Boolean).length;
  expect(welcomed(true)).toBe(8);
  expect(welcomed(false)).toBe(120);
  expect(welcomed(true)).toBe(0);
});

test('the server is full at a share of its descriptors, until connections close', async () => {
  const capacity = new Capacity();
  const sockets: Socket[] = [];
  while (!capacity.isReached) {
    const socket = new Socket();
    sockets.push(socket);
    capacity.count(socket);
  }
  expect(sockets.length).toBeLessThanOrEqual(1024);
  sockets[0]!.destroy();
  await once(sockets[0]!, 'close');
  expect(capacity.isReached).toBe(false);
});
