import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Pungi } from '../../core/src/pungi.js';
import { SecureCluster } from './secure-cluster.js';

let cluster: SecureCluster;
let pungi: Pungi;
beforeAll(async () => {
  cluster = await SecureCluster.start();
  await cluster.worker('worker-1');
  await cluster.worker('worker-2');
  pungi = await cluster.front(2);
});
afterAll(() => cluster.stop());

test('runs pass through a cluster with TLS, keys and permissions', async () => {
  const codes = Array.from({ length: 20 }, (_, n) => `${n} + 1`);
  const outcomes = await Promise.all(codes.map((code) => pungi.run({ code })));
  expect(outcomes.map(({ value }) => value?.json)).toEqual(codes.map((_, n) => n + 1));
});

test('large inputs and outputs, and cancellation, work with these permissions', async () => {
  const stdin = 'x'.repeat(5_000_000);
  const code = 'import sys; text = sys.stdin.read(); print(text[:2_000_000]); len(text)';
  const { verdict, value, stdout } = await pungi.run({ code, stdin });
  expect({ verdict, value: value?.json, bytes: stdout.bytes }).toEqual({
    verdict: { kind: 'ok' },
    value: stdin.length,
    bytes: 2_000_001,
  });
  const stop = new AbortController();
  const stopped = await pungi.run(
    { code: 'print("begun", flush=True)\nwhile True: pass' },
    { signal: stop.signal, onLine: () => stop.abort() },
  );
  expect(stopped.verdict.kind).toBe('cancelled');
});

test('an environment is made, used and deleted with these permissions', async () => {
  const { environments } = pungi;
  await environments.create({ venvName: 'ml' });
  expect(await pungi.run({ code: '1 + 1', venvName: 'ml' })).toMatchObject({
    verdict: { kind: 'ok' },
    value: { json: 2 },
  });
  await environments.delete({ venvName: 'ml', confirm: true, wait: true });
  const { verdict } = await pungi.run({ code: '1', venvName: 'ml' });
  expect(verdict).toMatchObject({ code: 'ENVIRONMENT_NOT_FOUND' });
});
