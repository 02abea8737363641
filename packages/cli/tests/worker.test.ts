import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { TestCluster } from '../../cluster/tests/cluster.js';
import { descendants, isAlive, pungi, start } from './pungi.js';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start();
});
afterAll(() => cluster.stop());

test.each([
  ['no cluster', [], 'Missing: the cluster: give --cluster nats://HOST:4222.'],
  [
    'no credentials',
    ['--cluster', 'nats://127.0.0.1:1'],
    'Missing: the credentials for the cluster: give --creds DIR.',
  ],
  [
    'a password in the address',
    ['--cluster', 'nats://me:secret@127.0.0.1:1'],
    'must be addresses such as nats://host:4222, without a password',
  ],
  [
    'no folder',
    ['--cluster', 'nats://127.0.0.1:1', '--creds', '/nowhere'],
    'There is no folder /nowhere: name the credentials with --creds.',
  ],
  ['a bad label', ['--label', 'gpu'], 'must be of the form name=value'],
])('a worker with %s is refused with a sentence', async (_, args, sentence) => {
  const { status, stderr } = await pungi(['worker', ...args]);
  expect(status).toBe(2);
  expect(stderr).toContain(sentence);
  expect(stderr).toMatch(/^pungi: [^\n]+\n$/);
});

test.each([
  ['worker', () => cluster.workerCreds],
  ['serve', () => cluster.frontCreds],
])('%s says so when nobody answers at the address', async (command, creds) => {
  const { status, stderr } = await pungi([command, '--cluster', 'nats://127.0.0.1:1', '--creds', creds()]);
  expect(status).toBe(2);
  expect(stderr).toMatch(
    /^pungi: Could not connect to NATS at nats:\/\/127\.0\.0\.1:1: .*Check --cluster and --creds\.\n$/,
  );
});

const message = (id: number, method: string, params: object = {}) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

test('a client of pungi serve --cluster runs code on a worker', async () => {
  const worker = await cluster.worker();
  const { child, shows, ended } = start([
    'serve',
    '--cluster',
    cluster.nats.url,
    '--creds',
    cluster.frontCreds,
  ]);
  const clientInfo = { name: 'test', version: '1' };
  child.stdin.write(
    message(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }),
  );
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  child.stdin.write(
    message(2, 'tools/call', { name: 'execute_python', arguments: { code: 'print(6 * 7)' } }),
  );
  expect(await shows('stdout', '"id":2')).toContain('42');
  expect(descendants(child.pid!)).toEqual([]);
  expect(worker.trail.map(({ event }) => event)).toEqual(['started', 'ended']);
  child.stdin.end();
  expect((await ended).status).toBe(0);
});

test('SIGTERM ends a worker and all its processes', async () => {
  const worker = await cluster.worker();
  const below = descendants(worker.pid);
  expect(below.length).toBeGreaterThan(0);
  worker.signal('SIGTERM');
  expect((await worker.running.ended).status).toBe(0);
  await until(() => !below.some(isAlive), 'no process is left');
});
