import { randomBytes } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { sha256 } from '../../core/src/base/sha256.js';
import { PLAIN } from '../../core/src/engine/environment-ref.js';
import type { Pungi } from '../../core/src/pungi.js';
import { TestCluster } from './cluster.js';

let cluster: TestCluster;
let pungi: Pungi;
beforeAll(async () => {
  cluster = await TestCluster.start();
  await cluster.worker();
  pungi = await cluster.front();
});
afterAll(() => cluster.stop());

test('a run on a worker has the outcome that it has on one machine', async () => {
  const outcome = await pungi.run({ code: 'import sys; print(1); print(2, file=sys.stderr); {"a": [3]}' });
  expect(outcome).toMatchObject({
    verdict: { kind: 'ok' },
    stdout: { text: '1\n' },
    stderr: { text: '2\n' },
    value: { json: { a: [3] } },
    isolation: { tier: expect.any(String), features: expect.any(Array) },
  });
  expect(outcome.isolation.features.length).toBeGreaterThan(0);
});

test('an exception is described with its line', async () => {
  const { verdict } = await pungi.run({ code: 'x = 1\nx / 0' });
  expect(verdict).toMatchObject({ kind: 'python-error', exception: { type: 'ZeroDivisionError', line: 2 } });
});

test('inputs, variables and a called function reach the worker', async () => {
  const outcome = await pungi.run({
    code: 'import sys\ndef total(values: list[int]) -> int:\n    return sum(values) + len(open("a.txt").read()) + len(sys.argv)',
    argv: ['x'],
    files: [{ path: 'a.txt', text: 'four' }],
    call: { function: 'total', arguments: { values: [1, 2] } },
  });
  expect(outcome).toMatchObject({ verdict: { kind: 'ok' }, value: { json: 9 } });
});

test('lines arrive in order while the run goes on, more of them than fit into the window', async () => {
  const lines: string[] = [];
  const code = 'for n in range(60_000): print(n, "x" * 40)';
  const { verdict, stdout } = await pungi.run({ code }, { onLine: ({ text }) => lines.push(text) });
  expect(verdict).toEqual({ kind: 'ok' });
  expect(stdout.bytes).toBeGreaterThan(2 * 1024 * 1024);
  expect(lines.map((line) => Number.parseInt(line, 10))).toEqual(Array.from({ length: 60_000 }, (_, n) => n));
});

test('a file that a run leaves arrives whole, larger than a message may be', async () => {
  const code =
    'import random; random.seed(1); open("big.bin", "wb").write(random.randbytes(3_000_000)); None';
  const { artifacts, runId, verdict } = await pungi.run({ code });
  expect(verdict).toEqual({ kind: 'ok' });
  expect(artifacts).toMatchObject([{ path: 'big.bin', size: 3_000_000 }]);
  const { content } = await pungi.readArtifact({ run: runId, path: 'big.bin' });
  expect(content.length).toBe(3_000_000);
});

test('a run that is cancelled ends on its worker, and says so', async () => {
  const stop = new AbortController();
  const { verdict } = await pungi.run(
    { code: 'print("begun", flush=True)\nwhile True: pass' },
    { signal: stop.signal, onLine: () => stop.abort() },
  );
  expect(verdict).toMatchObject({ kind: 'cancelled' });
  expect((await pungi.run({ code: '1' })).verdict).toEqual({ kind: 'ok' });
});

test('a run that takes too long is ended by its worker', async () => {
  const { verdict } = await pungi.run({ code: 'while True: pass', limits: { timeoutMs: 300 } });
  expect(verdict).toMatchObject({ kind: 'timed-out', limitMs: 300 });
});

test('a run that prints without end is ended at its limit', async () => {
  const { verdict } = await pungi.run({
    code: 'while True: print("x" * 1000)',
    limits: { outputHardBytes: 4_000_000 },
  });
  expect(verdict).toMatchObject({ kind: 'output-exceeded' });
});

test('code is checked and compiled on a worker', async () => {
  const script = await pungi.precompile('print(6 * 7)');
  expect(await pungi.runCompiled(script)).toMatchObject({
    verdict: { kind: 'ok' },
    stdout: { text: '42\n' },
  });
  await expect(pungi.precompile('x =')).rejects.toMatchObject({ code: 'PYTHON_ERROR' });
});

test('inputs that are larger than a message reach the worker, and are gone afterwards', async () => {
  const stdin = `${'x'.repeat(2_000_000)}y`;
  const text = 'z'.repeat(1_000_000);
  const outcome = await pungi.run({
    code: 'import sys; text = sys.stdin.read(); [len(text), text[-1], len(open("z.txt").read())]',
    stdin,
    files: [{ path: 'z.txt', text }],
  });
  expect(outcome).toMatchObject({ verdict: { kind: 'ok' }, value: { json: [2_000_001, 'y', 1_000_000] } });
  await until(async () => (await storedInputs()) === 0, 'nothing is left in the object store');
});

test('inputs that are larger than a message are stored although the store is not there any more', async () => {
  const run = () => pungi.run({ code: 'import sys; len(sys.stdin.read())', stdin: 'x'.repeat(700_000) });
  expect(await run()).toMatchObject({ verdict: { kind: 'ok' }, value: { json: 700_000 } });
  const connection = await connect({ servers: cluster.nats.url });
  await (await jetstreamManager(connection)).streams.delete('OBJ_pungi-main-inputs');
  await connection.close();
  expect(await run()).toMatchObject({ verdict: { kind: 'ok' }, value: { json: 700_000 } });
});

test('an upload reaches the worker', async () => {
  const content = randomBytes(5_000_000);
  const { upload } = await pungi.upload({ content });
  const { value, verdict } = await pungi.run({
    code: 'import hashlib; hashlib.sha256(open("big.bin", "rb").read()).hexdigest()',
    files: [{ path: 'big.bin', upload }],
  });
  expect(verdict).toEqual({ kind: 'ok' });
  expect(value?.json).toBe(sha256(content));
});

test('a file that an earlier run left reaches a worker', async () => {
  const { runId } = await pungi.run({ code: 'open("left.txt", "w").write("from before"); None' });
  const { value } = await pungi.run({ code: 'open("left.txt").read()', filesOf: runId });
  expect(value?.json).toBe('from before');
});

test('a folder with data, which a cluster does not have yet, is refused with a sentence', async () => {
  const backend = await cluster.backend();
  const poolSpec = { ...PLAIN, data: [{ name: 'x', path: '/srv/x' }] };
  await expect(
    backend.acquire({ ref: undefined, poolSpec }, new AbortController().signal),
  ).rejects.toMatchObject({ code: 'DENIED', message: expect.stringContaining('Folders with data') });
  await backend.close();
});

async function storedInputs(): Promise<number> {
  const connection = await connect({ servers: cluster.nats.url });
  try {
    const bucket = await new Objm(connection).open('pungi-main-inputs');
    return (await bucket.list()).length;
  } finally {
    await connection.close();
  }
}
