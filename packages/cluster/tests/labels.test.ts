import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { silentLogger } from '../../core/src/base/logger.js';
import { Pungi } from '../../core/src/pungi.js';
import { TestCluster } from './cluster.js';

const ONE = { MAX_CONCURRENT_EXECUTIONS: '1' };

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await TestCluster.start();
});
afterEach(() => cluster.stop());

test('runs go to a worker that has what they need', async () => {
  const plain = await cluster.worker();
  const gpu = await cluster.worker(['--label', 'gpu=true', '--label', 'zone=a']);
  const pungi = await cluster.front();
  for (const labels of [{ gpu: 'true' }, { zone: 'a' }, { zone: 'a', gpu: 'true' }])
    expect((await pungi.run({ code: '1', labels })).verdict).toEqual({ kind: 'ok' });
  expect(gpu.trail.filter(({ event }) => event === 'started')).toHaveLength(3);
  expect(plain.trail).toHaveLength(0);
});

test('the architecture of a worker is a label that it has by itself', async () => {
  const worker = await cluster.worker(['--label', 'gpu=true'], ONE);
  const pungi = await cluster.front();
  const needs = [{ arch: process.arch }, { arch: process.arch, gpu: 'true' }];
  // More than it has slots for: some are placed, the others are offered.
  for (const labels of needs) {
    const runs = await Promise.all(Array.from({ length: 4 }, () => pungi.run({ code: '1', labels })));
    expect(runs.map(({ verdict }) => verdict)).toEqual(runs.map(() => ({ kind: 'ok' })));
  }
  expect(worker.trail.filter(({ event }) => event === 'started')).toHaveLength(8);
  const { verdict } = await pungi.run({ code: '1', labels: { arch: 'riscv64', gpu: 'true' } });
  expect(verdict).toMatchObject({
    kind: 'busy',
    message:
      'No worker has arch=riscv64 and gpu=true (1 connected): start one with pungi worker --label gpu=true on a machine with riscv64.',
  });
});

test('a need that no worker meets is refused with what to start', async () => {
  await cluster.worker(['--label', 'gpu=true']);
  const pungi = await cluster.front();
  const { verdict } = await pungi.run({ code: '1', labels: { gpu: 'true', zone: 'b' } });
  expect(verdict).toMatchObject({
    kind: 'busy',
    message:
      'No worker has gpu=true and zone=b (1 connected): start one with pungi worker --label gpu=true --label zone=b.',
  });
});

test('runs that wait for a busy worker of their need do not hold others back', async () => {
  await cluster.worker(['--label', 'gpu=true'], ONE);
  await cluster.worker([], ONE);
  const pungi = await cluster.front({ maxConcurrentExecutions: 40 });
  const stop = new AbortController();
  let blocked!: Promise<unknown>;
  await new Promise<void>((begun) => {
    blocked = pungi.run(
      { code: 'print("begun", flush=True)\nwhile True: pass', labels: { gpu: 'true' } },
      { signal: stop.signal, onLine: () => begun() },
    );
  });
  const waiting = Array.from({ length: 8 }, () => pungi.run({ code: '2', labels: { gpu: 'true' } }));
  await until(async () => (await pungi.health()).cluster!.waiting === 8, 'all of them wait');
  const others = await Promise.all(Array.from({ length: 20 }, () => pungi.run({ code: '1' })));
  expect(others.map(({ verdict }) => verdict.kind)).toEqual(others.map(() => 'ok'));
  stop.abort();
  await blocked;
  for (const one of await Promise.all(waiting))
    expect(one).toMatchObject({ verdict: { kind: 'ok' }, value: { json: 2 } });
});

test('labels are refused by a server that is in no cluster, and within a session', async () => {
  await using alone = Pungi.start({ audit: false }, silentLogger);
  const { verdict } = await alone.run({ code: '1', labels: { gpu: 'true' } });
  expect(verdict).toMatchObject({
    kind: 'denied',
    message: expect.stringContaining('Labels choose a worker'),
  });
  const within = await alone.run({ code: '1', labels: { gpu: 'true' }, session: 'session-x' });
  expect(within.verdict).toMatchObject({
    kind: 'invalid',
    message: expect.stringContaining('when it begins'),
  });
});
