import { afterAll, beforeAll, expect, test } from 'vitest';
import { pungi as command } from '../../cli/tests/pungi.js';
import { SecureCluster } from './secure-cluster.js';

let cluster: SecureCluster;
beforeAll(async () => {
  cluster = await SecureCluster.start();
  await cluster.worker('worker-1');
  await cluster.front(1);
});
afterAll(() => cluster.stop());

const run = (args: string[], member: string) =>
  command(['cluster', ...args, '--cluster', cluster.nats.url, '--creds', cluster.creds(member)]);

test("an operator's keys see everybody, and take a worker out and in", async () => {
  const seen = JSON.parse((await run(['status', '--json'], 'operator')).stdout);
  expect(seen).toMatchObject({
    cluster: 'main',
    workers: [{ name: 'worker-1', state: 'ready' }],
    frontEnds: [{ queue: { active: 0 } }],
    problems: [],
  });
  expect(await run(['cordon', 'worker-1'], 'operator')).toMatchObject({ status: 0 });
  expect((await run(['status'], 'operator')).stdout).toMatch(/worker-1 +cordoned/);
  expect(await run(['uncordon', 'worker-1'], 'operator')).toMatchObject({ status: 0 });
});

test('the keys of a worker hear no other worker', async () => {
  const { problems, workers } = JSON.parse((await run(['status', '--json'], 'worker-2')).stdout);
  expect(workers).toEqual([]);
  expect(problems).toContain('These credentials may not hear workers: use those of an operator.');
});

test('the keys of a front end hear everybody', async () => {
  const { problems, workers } = JSON.parse((await run(['status', '--json'], 'front-1')).stdout);
  expect(workers).toHaveLength(1);
  expect(problems).toEqual([]);
});
