import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lastingFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import type { Pungi } from '../../core/src/pungi.js';
import { SecureCluster } from './secure-cluster.js';

let cluster: SecureCluster;
let pungi: Pungi;
beforeAll(async () => {
  cluster = await SecureCluster.start();
  await cluster.worker('worker-1');
  await cluster.worker('worker-2');
  pungi = await cluster.front(2, { maxConcurrentExecutions: 2, artifactDir: join(lastingFolder(), 'one') });
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

test('background runs pass from one front end to another with these permissions and keys', async () => {
  const caller = { client: 'somebody' };
  const code = 'print("begun", flush=True)\nimport time\ntime.sleep(600)';
  const { run: long } = await pungi.runInBackground({ code, limits: { timeoutMs: 900_000 } }, { caller });
  await until(async () => (await pungi.getRun(long, { caller })).lines?.length, 'it takes the only slot');
  const artifactDir = join(lastingFolder(), 'two');
  const other = await cluster.front(2, { artifactDir }, 'front-2');
  const stdin = 'x'.repeat(300_000);
  const leaving = 'import sys\nopen("a.txt", "w").write(sys.stdin.read())';
  const { run } = await pungi.runInBackground({ code: leaving, stdin }, { caller });
  const { outcome } = await until(async () => {
    const found = await pungi.getRun(run, { waitMs: 5000, caller });
    return found.outcome && found;
  }, 'the other front end has run it');
  expect(outcome).toMatchObject({ verdict: { kind: 'ok' }, value: { json: stdin.length } });
  const { content } = await pungi.readArtifact({ run: outcome!.runId, path: 'a.txt' }, caller);
  expect(content.length).toBe(stdin.length);
  expect(await other.cancelRun(long, caller)).toMatchObject({ outcome: { verdict: { kind: 'cancelled' } } });
  expect(await other.listRuns(caller)).toMatchObject([
    { run, state: 'ended' },
    { run: long, state: 'ended' },
  ]);
});
