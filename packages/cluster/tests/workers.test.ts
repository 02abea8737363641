import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lastingFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import { TestCluster } from './cluster.js';

const ONE = { MAX_CONCURRENT_EXECUTIONS: '1' };

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await TestCluster.start();
});
afterEach(() => cluster.stop());

test('two workers share the runs, and those that find all slots taken wait for one', async () => {
  const workers = [await cluster.worker([], ONE), await cluster.worker([], ONE)];
  const pungi = await cluster.front({ maxConcurrentExecutions: 40 });
  const runs = Array.from({ length: 40 }, (_, n) =>
    pungi.run({ code: `import time; time.sleep(0.02); ${n}` }),
  );
  const outcomes = await Promise.all(runs);
  expect(outcomes.map(({ value }) => value?.json)).toEqual(runs.map((_, n) => n));
  const counts = workers.map(({ trail }) => trail.filter(({ event }) => event === 'started').length);
  expect(counts[0]! + counts[1]!).toBe(40);
  expect(Math.min(...counts)).toBeGreaterThan(5);
});

test('SIGTERM drains a worker: it finishes what runs, takes no more, and ends', async () => {
  const [first, second] = [await cluster.worker(), await cluster.worker()];
  const pungi = await cluster.front();
  const begun: Promise<void>[] = [];
  const start = () => {
    let ended!: ReturnType<typeof pungi.run>;
    begun.push(
      new Promise((resolve) => {
        const code = 'print("begun", flush=True)\nimport time\ntime.sleep(0.7)';
        ended = pungi.run({ code }, { onLine: () => resolve() });
      }),
    );
    return ended;
  };
  // Until both have some.
  const runs = [start()];
  await begun[0];
  while ([first, second].some(({ trail }) => trail.length === 0)) {
    runs.push(start());
    await begun.at(-1);
  }
  first.signal('SIGTERM');
  await first.running.shows('stderr', 'The worker is drained');
  const before = first.trail.filter(({ event }) => event === 'started').length;
  const later = await Promise.all([1, 2, 3].map(() => pungi.run({ code: '1' })));
  expect(later.map(({ verdict }) => verdict.kind)).toEqual(['ok', 'ok', 'ok']);
  const outcomes = await Promise.all(runs);
  expect(outcomes.map(({ verdict }) => verdict.kind)).toEqual(runs.map(() => 'ok'));
  expect((await first.running.ended).status).toBe(0);
  expect(first.trail.filter(({ event }) => event === 'started')).toHaveLength(before);
});

test('without a free worker a run ends with SERVER_BUSY after its own time', async () => {
  const worker = await cluster.worker([], ONE);
  const pungi = await cluster.front();
  const stop = new AbortController();
  let blocked!: Promise<unknown>;
  await new Promise<void>((begun) => {
    blocked = pungi.run(
      { code: 'print("begun", flush=True)\nwhile True: pass' },
      { signal: stop.signal, onLine: () => begun() },
    );
  });
  const { verdict } = await pungi.run({ code: '1', limits: { timeoutMs: 300 } });
  expect(verdict).toMatchObject({
    kind: 'busy',
    message: expect.stringContaining('No worker of the cluster was free within 300 ms (1 connected'),
  });
  stop.abort();
  await blocked;
  expect((await pungi.run({ code: '1' })).verdict).toEqual({ kind: 'ok' });
  expect(worker.trail.filter(({ event }) => event === 'started')).toHaveLength(2);
});

test('a run that waits for a first worker is run once there is one, or is cancelled', async () => {
  const pungi = await cluster.front();
  const stop = new AbortController();
  const cancelled = pungi.run({ code: '1' }, { signal: stop.signal });
  const waiting = pungi.run({ code: '2' });
  stop.abort();
  expect((await cancelled).verdict).toMatchObject({ kind: 'cancelled' });
  await cluster.worker();
  expect(await waiting).toMatchObject({ verdict: { kind: 'ok' }, value: { json: 2 } });
});

test('without a first worker a run ends with SERVER_BUSY after its own time', async () => {
  const pungi = await cluster.front();
  const { verdict } = await pungi.run({ code: '1', limits: { timeoutMs: 300 } });
  expect(verdict).toMatchObject({
    kind: 'busy',
    message: 'No worker of the cluster was there within 300 ms: start one with pungi worker.',
  });
});

test('a worker whose disk is full takes no runs', async () => {
  const state = lastingFolder();
  mkdirSync(join(state, 'pungi', 'cluster'), { recursive: true });
  symlinkSync('/dev/full', join(state, 'pungi', 'cluster', 'w1.jsonl'));
  await cluster.worker([], { XDG_STATE_HOME: state });
  const backend = await cluster.backend();
  await until(() => backend.workers.length === 1, 'the worker is heard');
  const acquired = backend.acquire({ ref: undefined, waitMs: 300 }, new AbortController().signal);
  await expect(acquired).rejects.toThrow('No worker of the cluster was free within 300 ms');
  await backend.close();
  const pungi = await cluster.front();
  await cluster.worker();
  expect((await pungi.run({ code: '1' })).verdict).toEqual({ kind: 'ok' });
});

test('a front end whose NATS server is gone can be closed', async () => {
  const backend = await cluster.backend();
  await cluster.nats.kill();
  await backend.close();
});

test('a front end hears what its workers are and have', async () => {
  await cluster.worker(['--label', 'gpu=true', '--label', 'zone=a'], ONE);
  const backend = await cluster.backend();
  const beat = await until(() => backend.workers[0], 'the worker is heard');
  expect(beat).toMatchObject({
    worker: 'w1',
    state: 'ready',
    labels: { gpu: 'true', zone: 'a' },
    arch: process.arch,
    slots: 1,
    busy: 0,
  });
  await backend.close();
});
