import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobOf } from '../../../tests/support/job.js';
import { temporaryFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import { silentLogger } from '../../core/src/base/logger.js';
import type { GivenConfig } from '../../core/src/config/schema.js';
import type { Outcome } from '../../core/src/contract/outcome.js';
import type { RunRequest } from '../../core/src/contract/run.js';
import type { Pungi } from '../../core/src/pungi.js';
import { TestCluster } from './cluster.js';

// The NATS server is killed and does not come back: each stage of a run ends all the same.

const FOR_LONG = 'print("begun", flush=True)\nimport time\ntime.sleep(60)';
const FLOOD = 'while True:\n    print("x" * 1000, flush=True)';
const ROOM = { MAX_CONCURRENT_EXECUTIONS: '8' };
const UNREACHED = expect.stringContaining('(NATS cannot be reached)');
const { signal } = new AbortController();

/** Resolves once the code has printed something, to the promise of its outcome. */
async function begin(
  pungi: Pungi,
  request: RunRequest,
  options: { signal?: AbortSignal } = {},
): Promise<{ ended: Promise<Outcome> }> {
  let ended!: Promise<Outcome>;
  await new Promise<void>((begun) => {
    ended = pungi.run(request, { ...options, onLine: () => begun() });
  });
  return { ended };
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** All stages, in one outage that never ends. */
async function loseNats(cluster: TestCluster) {
  await cluster.worker([], ROOM);
  const errors: string[] = [];
  const logger = { ...silentLogger, error: (message: string) => errors.push(message) };
  const config = { executionTimeoutMs: 2000, maxConcurrentExecutions: 8, maxConcurrentPerClient: 8 };
  const pungi = await cluster.front(config, logger);
  const backend = await cluster.backend();
  await until(() => backend.workers.length === 1, 'the worker is heard');
  const acquire = () => backend.acquire({ ref: undefined }, signal);
  const session = async () => (await pungi.run({ code: 'x = 1', session: 'new' })).session!.id;
  const cancel = new AbortController();
  const [silent, writing, cancelled] = await Promise.all([
    begin(pungi, { code: FOR_LONG }),
    begin(pungi, { code: FLOOD }),
    begin(pungi, { code: FOR_LONG }, { signal: cancel.signal }),
  ]);
  const [continued, copied] = [await session(), await session()];
  const [ordered, storing] = [await acquire(), await acquire()];
  await cluster.nats.kill();
  cancel.abort();
  const large = { ...jobOf('1'), stdin: 'x'.repeat(700_000) };
  const stages = {
    silent: silent.ended,
    writing: writing.ended,
    cancelled: cancelled.ended,
    ordered: ordered.run(jobOf('1'), 'run-1', () => {}, signal),
    storing: storing.run(large, 'run-2', () => {}, signal),
    continued: pungi.run({ code: 'x', session: continued }),
    copied: failure(pungi.checkpoint(copied)),
  };
  await until(() => errors.some((error) => error.includes('NATS was lost')), 'the front end notices');
  const later = {
    unordered: pungi.run({ code: '1' }),
    examined: failure(pungi.examine({ code: '1' })),
  };
  return { backend, stages: { ...stages, ...later } };
}

let cluster: TestCluster;
let lost: Awaited<ReturnType<typeof loseNats>>;
beforeAll(async () => {
  cluster = await TestCluster.start();
  lost = await loseNats(cluster);
});
afterAll(async () => {
  await lost.backend.close();
  await cluster.stop();
});

test('a run that was not ordered yet is not sent, and ends with SERVER_BUSY after its time', async () => {
  expect((await lost.stages.unordered).verdict).toMatchObject({ kind: 'busy' });
});

test('a run whose inputs are not stored has not started', async () => {
  expect(await lost.stages.storing).toMatchObject({ facts: null, lost: { started: false } });
});

test('a run whose order nobody confirms is lost', async () => {
  expect(await lost.stages.ordered).toMatchObject({ lost: { started: null, message: UNREACHED } });
});

test('a run that goes on in silence is lost after its time', async () => {
  expect((await lost.stages.silent).verdict).toMatchObject({
    kind: 'lost',
    started: true,
    message: UNREACHED,
  });
});

test('a run that writes output is lost after its time', async () => {
  const { verdict } = await lost.stages.writing;
  expect(verdict).toMatchObject({ kind: 'lost', started: true, message: UNREACHED });
});

test('a run that is cancelled is lost', async () => {
  const { verdict } = await lost.stages.cancelled;
  expect(verdict).toMatchObject({ kind: 'lost', started: true, message: UNREACHED });
});

test('the next run of a session is lost', async () => {
  const { verdict } = await lost.stages.continued;
  expect(verdict).toMatchObject({ kind: 'lost', started: null, message: UNREACHED });
});

test('a session is not copied', async () => {
  expect(await lost.stages.copied).toMatchObject({ code: 'SESSION_NOT_COPIED' });
});

test('code is not examined', async () => {
  expect(await lost.stages.examined).toMatchObject({ code: 'SERVER_BUSY' });
});

/** A cluster of its own, of which a run is under way. */
async function underWay(config: GivenConfig = {}) {
  const own = await TestCluster.start();
  await own.worker();
  const pungi = await own.front(config);
  return { own, pungi, ...(await begin(pungi, { code: FOR_LONG })) };
}

test('a front end with a run under way is closed', async () => {
  const { own, pungi, ended } = await underWay();
  await own.nats.kill();
  await pungi.close();
  expect((await ended).verdict).toMatchObject({ kind: 'lost', started: true, message: UNREACHED });
  await own.stop();
});

const auditDir = temporaryFolder();

test('a front end with an audit trail and a background run is closed', async () => {
  const { own, pungi } = await underWay({ audit: true, auditDir });
  const { run } = await pungi.runInBackground({ code: FOR_LONG });
  await until(async () => (await pungi.getRun(run)).lineCount, 'the run has begun');
  await own.nats.kill();
  await pungi.close();
  await own.stop();
});

test('a front end that reaches NATS hears how the runs end that it cancels when it is closed', async () => {
  const { own, pungi, ended } = await underWay();
  await pungi.close();
  expect((await ended).verdict).toMatchObject({ kind: 'cancelled' });
  await own.stop();
});
