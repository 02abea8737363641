import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lastingFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import type { Pungi } from '../../core/src/pungi.js';
import { TestCluster, type TestWorker } from './cluster.js';

let cluster: TestCluster;
let worker: TestWorker;
let a: Pungi;
let b: Pungi;
beforeAll(async () => {
  cluster = await TestCluster.start();
  worker = await cluster.worker([], { MAX_CONCURRENT_EXECUTIONS: '8' });
  const folder = lastingFolder();
  const front = (name: string) =>
    cluster.front({ artifactDir: join(folder, name), maxOutputBytes: 1_000_000 });
  [a, b] = [await front('a'), await front('b')];
});
afterAll(() => cluster.stop());

const caller = { client: 'somebody' };
const startsOf = (runId: string) =>
  worker.trail.filter(({ event, run }) => event === 'started' && run === runId).length;

/** Waits at a front end until the run has ended. */
async function ended(at: Pungi, run: string, of = caller) {
  const found = await until(async () => {
    const seen = await at.getRun(run, { waitMs: 5000, caller: of });
    return seen.outcome && seen;
  }, 'the run has ended');
  return found.outcome!;
}

/** The front end that runs it, and the other one. */
const sides = (run: string) =>
  until(async () => {
    for (const [here, there] of [
      [a, b],
      [b, a],
    ] as const)
      if ((await here.getRun(run, { caller })).lines?.length) return { here, there };
    return undefined;
  }, 'a front end has lines of the run');

test('a run that one front end accepts is read at every one, and starts once', async () => {
  const { run } = await a.runInBackground({ code: 'print("done")\n6 * 7' }, { caller, replyDetail: 'short' });
  const outcomes = [await ended(b, run), await ended(a, run)];
  expect(outcomes[0]).toMatchObject({ verdict: { kind: 'ok' }, value: { json: 42 } });
  expect(outcomes[1]).toEqual(outcomes[0]);
  expect(await b.getRun(run, { caller })).toMatchObject({ state: 'ended', replyDetail: 'short' });
  expect(startsOf(outcomes[0]!.runId)).toBe(1);
});

test('runs are listed at every front end, the newest first, and for their caller only', async () => {
  const mine = { client: 'lister' };
  const accepted: string[] = [];
  for (const at of [a, b, a]) accepted.push((await at.runInBackground({ code: '1' }, { caller: mine })).run);
  for (const at of [a, b])
    expect((await at.listRuns(mine)).map(({ run }) => run)).toEqual([...accepted].reverse());
  for (const run of accepted) await ended(b, run, mine);
  expect((await a.listRuns(mine)).map(({ state }) => state)).toEqual(['ended', 'ended', 'ended']);
  for (const other of [{ client: 'another' }, { client: 'lister', token: 'x' }]) {
    expect(await b.listRuns(other)).toEqual([]);
    for (const at of [a, b]) {
      await expect(at.getRun(accepted[0]!, { caller: other })).rejects.toMatchObject({
        code: 'RUN_NOT_FOUND',
      });
      await expect(at.cancelRun(accepted[0]!, other)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    }
  }
});

test('a run is cancelled from a front end that does not run it', async () => {
  const code = 'print("begun", flush=True)\nimport time\ntime.sleep(600)';
  const { run } = await a.runInBackground({ code, limits: { timeoutMs: 900_000 } }, { caller });
  const { there } = await sides(run);
  expect(await there.getRun(run, { caller })).toMatchObject({ state: 'running' });
  expect(await there.cancelRun(run, caller)).toMatchObject({ outcome: { verdict: { kind: 'cancelled' } } });
  expect((await ended(a, run)).verdict.kind).toBe('cancelled');
});

test('files that a run left are read at every front end, and by its caller only', async () => {
  const code = 'open("left.bin", "wb").write(bytes(range(256)) * 8192); open("empty", "w"); None';
  const { run } = await a.runInBackground({ code }, { caller });
  const { runId, artifacts, notes } = await ended(b, run);
  expect(notes).toBeUndefined();
  expect(artifacts?.map(({ path }) => path)).toEqual(['empty', 'left.bin']);
  for (const at of [a, b]) {
    const { content } = await at.readArtifact({ run: runId, path: 'left.bin' }, caller);
    expect(
      content.equals(Buffer.alloc(256 * 8192, Buffer.from(Array.from({ length: 256 }, (_, n) => n)))),
    ).toBe(true);
    const read = at.readArtifact({ run: runId, path: 'left.bin' }, { client: 'another' });
    await expect(read).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  }
  const follower = await b.run({ code: 'len(open("left.bin", "rb").read())', filesOf: runId }, { caller });
  expect(follower.value?.json).toBe(256 * 8192);
});

test('requests and outcomes that are larger than a message travel by reference', async () => {
  const stdin = randomBytes(1_000_000).toString('hex');
  const code = 'import sys\ntext = sys.stdin.read()\nprint(text[:400_000])\nlen(text)';
  const { run } = await a.runInBackground({ code, stdin }, { caller });
  const { value, stdout, verdict } = await ended(b, run);
  expect([verdict.kind, value?.json]).toEqual(['ok', 2_000_000]);
  expect(stdout.text === `${stdin.slice(0, 400_000)}\n`).toBe(true);
});

test('a run in a session stays at its front end, and its outcome is read elsewhere', async () => {
  const { session } = await a.run({ code: 'x = 20', session: 'new' }, { caller });
  const { run } = await a.runInBackground({ code: 'x + 1', session: session!.id }, { caller });
  expect((await ended(b, run)).value?.json).toBe(21);
});

test('an invalid request is refused at once', async () => {
  const request = { code: '1', context: { n: Number.NaN } };
  await expect(a.runInBackground(request, { caller })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
});

test('a caller has so many runs in the whole cluster', async () => {
  const mine = { client: 'greedy' };
  const code = 'import time\ntime.sleep(600)';
  const runs: string[] = [];
  for (let n = 0; n < 8; n++)
    runs.push(
      (await (n % 2 ? a : b).runInBackground({ code, limits: { timeoutMs: 900_000 } }, { caller: mine })).run,
    );
  for (const at of [a, b])
    await expect(at.runInBackground({ code }, { caller: mine })).rejects.toMatchObject({
      code: 'SERVER_BUSY',
    });
  // Some of them wait in the queue: these never start.
  const cancelled = await Promise.all(runs.reverse().map((run) => b.cancelRun(run, mine)));
  expect(cancelled.map(({ outcome }) => outcome?.verdict.kind)).toEqual(runs.map(() => 'cancelled'));
});

test('runs are accepted, and end, although the NATS server is restarted', async () => {
  const code = 'print("begun", flush=True)\nimport time\ntime.sleep(1.5)\n5';
  const { run } = await a.runInBackground({ code }, { caller });
  await sides(run);
  await cluster.nats.kill();
  await cluster.nats.start();
  const outcome = await ended(b, run);
  expect(outcome).toMatchObject({ verdict: { kind: 'ok' }, value: { json: 5 } });
  expect(startsOf(outcome.runId)).toBe(1);
  const { run: next } = await b.runInBackground({ code: '8' }, { caller });
  expect((await ended(a, next)).value?.json).toBe(8);
});
