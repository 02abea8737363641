import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { type NetworkDecision, Visit } from '../../src/runtime/network/visit.js';

const TARGET = { host: { kind: 'name', text: 'api.example.com' }, port: 443 } as const;

test('a run that moves more than a gigabyte loses its network, and the reason is recorded once', async () => {
  const server = createServer((socket) => socket.on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const decisions: NetworkDecision[] = [];
  const visit = new Visit('run', (decision) => decisions.push(decision));
  visit.hold(socket);
  for (let gone = 0; gone < 1024; gone += 1) visit.count(TARGET, 1024 ** 2);
  expect([socket.destroyed, decisions]).toEqual([false, []]);
  visit.count(TARGET, 1);
  visit.count(TARGET, 1);
  expect(socket.destroyed).toBe(true);
  expect(decisions).toEqual([
    {
      run: 'run',
      host: 'api.example.com',
      port: 443,
      allowed: false,
      reason: 'The run moved more than 1024 MB and lost its network.',
    },
  ]);
  expect(visit.welcome(socket)).toBe(false);
  server.close();
});
