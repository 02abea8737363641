import { connect } from '@nats-io/transport-node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { silentLogger } from '../../core/src/base/logger.js';
import { Pungi } from '../../core/src/pungi.js';
import { ClusterBackend } from '../src/front/cluster-backend.js';
import { Link } from './chaos/link.js';
import { TestCluster } from './cluster.js';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await TestCluster.start();
});
afterEach(() => cluster.stop());

test('a front end that hears everything late counts no worker as lost', async () => {
  await cluster.worker();
  const link = await Link.open(() => Number(new URL(cluster.nats.url).port));
  const backend = await ClusterBackend.connect(
    { url: link.url, name: 'main', creds: cluster.frontCreds },
    silentLogger,
  );
  const pungi = Pungi.start({ audit: false }, silentLogger, 'server', backend);
  await until(() => backend.workers.length === 1, 'the worker is heard');
  const seen = backend.workers;
  const observer = await connect({ servers: cluster.nats.url });
  let beats = 0;
  observer.subscribe('pungi.main.beat.*', {
    callback: () => {
      beats += 1;
    },
  });
  const lines: string[] = [];
  const ended = pungi.run(
    { code: 'import time\nfor n in range(30):\n    print(n, flush=True)\n    time.sleep(0.1)' },
    { onLine: ({ text }) => lines.push(text) },
  );
  await until(() => lines.length > 0, 'the run has begun');
  link.hold();
  const before = beats;
  // For longer than the silence after which a worker is lost.
  await until(() => beats >= before + 5, 'the worker goes on');
  link.heal();
  const { verdict } = await ended;
  expect(verdict).toEqual({ kind: 'ok' });
  expect(lines).toHaveLength(30);
  expect(backend.workers.map(({ incarnation }) => incarnation)).toEqual(
    seen.map(({ incarnation }) => incarnation),
  );
  await observer.close();
  await pungi.close();
  await link.close();
});

test('orders that no worker has confirmed are bounded: what comes after them waits at the front end', async () => {
  const worker = await cluster.worker([], { MAX_CONCURRENT_EXECUTIONS: '200' });
  const backend = await cluster.backend();
  const pungi = Pungi.start({ audit: false, maxConcurrentExecutions: 200 }, silentLogger, 'server', backend);
  await until(() => backend.workers.length === 1, 'the worker is heard');
  const observer = await connect({ servers: cluster.nats.url });
  const orders = new Set<string>();
  observer.subscribe('pungi.main.worker.*.*.go', {
    callback: (_, { data }) => void orders.add(Buffer.from(data).subarray(0, 64).toString('hex')),
  });
  await observer.flush();
  worker.signal('SIGSTOP');
  const stop = new AbortController();
  const runs = Array.from({ length: 150 }, () => pungi.run({ code: '1' }, { signal: stop.signal }));
  // The worker has 200 slots.
  await until(() => backend.cluster().waiting > 0, 'some wait');
  await observer.flush();
  await until(() => orders.size >= 16, 'the others are sent');
  // Of one worker.
  expect(orders.size).toBe(16);
  stop.abort();
  worker.signal('SIGKILL');
  const verdicts = (await Promise.all(runs)).map(({ verdict }) => verdict.kind);
  expect(verdicts.filter((kind) => kind === 'cancelled').length).toBeGreaterThanOrEqual(150 - 16);
  await observer.close();
  await pungi.close();
});

test('runs that have a worker and are not ordered yet, as while NATS stores their inputs, hold no others back', async () => {
  await cluster.worker([], { MAX_CONCURRENT_EXECUTIONS: '200' });
  const backend = await cluster.backend();
  const pungi = Pungi.start({ audit: false }, silentLogger, 'server', backend);
  await until(() => backend.workers.length === 1, 'the worker is heard');
  const { signal } = new AbortController();
  const workers = await Promise.all(
    Array.from({ length: 64 }, () => backend.acquire({ ref: undefined }, signal)),
  );
  const { verdict } = await pungi.run({ code: '1', limits: { timeoutMs: 2000 } });
  expect(verdict).toEqual({ kind: 'ok' });
  for (const worker of workers) worker.release();
  await pungi.close();
});
