import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { jobOf } from '../../../tests/support/job.js';
import { descendantsOf } from '../../../tests/support/processes.js';
import { until } from '../../../tests/support/until.js';
import { descendants, isAlive } from '../../cli/tests/pungi.js';
import type { Outcome } from '../../core/src/contract/outcome.js';
import type { RunRequest } from '../../core/src/contract/run.js';
import type { Pungi } from '../../core/src/pungi.js';
import type { ClusterBackend } from '../src/front/cluster-backend.js';
import type { FrontLink } from '../src/front/link.js';
import { Offers } from '../src/front/offers.js';
import { RemoteWorker } from '../src/front/remote-worker.js';
import type { WorkerKey } from '../src/protocol/subjects.js';
import { KEEP_MS, UNNAMED_MS } from '../src/protocol/timing.js';
import { TestCluster, type TestWorker } from './cluster.js';

const FOR_LONG = 'print("begun", flush=True)\nimport time\ntime.sleep(60)';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await TestCluster.start();
});
afterEach(() => cluster.stop());

/** Resolves once the code has printed something, to the promise of its outcome. */
async function begin(pungi: Pungi, request: RunRequest): Promise<{ ended: Promise<Outcome> }> {
  let ended!: Promise<Outcome>;
  await new Promise<void>((begun) => {
    ended = pungi.run(request, { onLine: () => begun() });
  });
  return { ended };
}

function signalSafely(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {} // it has ended with another one
}

const startsOf = (workers: readonly TestWorker[]) =>
  workers.flatMap(({ trail }) => trail).filter(({ event }) => event === 'started');

test('a worker that is killed during a run: the run is lost, had started, and leaves no process', async () => {
  const worker = await cluster.worker();
  const pungi = await cluster.front();
  const { ended } = await begin(pungi, { code: FOR_LONG });
  const below = descendants(worker.pid);
  worker.signal('SIGKILL');
  expect((await ended).verdict).toMatchObject({
    kind: 'lost',
    started: true,
    message: expect.stringMatching(/^The run was lost on the worker w1 .* while it was under way/),
  });
  expect(startsOf([worker])).toHaveLength(1);
  await until(() => !below.some(isAlive), 'no process of the worker is left');
});

test('a sandbox that is killed below a living worker: the run is lost, and had started', async () => {
  const worker = await cluster.worker();
  const pungi = await cluster.front();
  const { ended } = await begin(pungi, { code: FOR_LONG });
  // Stopped first: a supervisor that sees its run killed would report that.
  const below = descendantsOf(worker.pid);
  for (const signal of ['SIGSTOP', 'SIGKILL'] as const)
    for (const { pid } of below) signalSafely(pid, signal);
  expect((await ended).verdict).toMatchObject({
    kind: 'lost',
    started: true,
    message: expect.stringContaining('(the sandbox of the run ended by itself)'),
  });
  expect((await pungi.run({ code: 'print(1)' })).verdict).toEqual({ kind: 'ok' });
});

test('a worker that is stopped during a run: the run is lost, and is not run again when it continues', async () => {
  const workers = [await cluster.worker()];
  const pungi = await cluster.front();
  const { ended } = await begin(pungi, { code: FOR_LONG });
  workers[0]!.signal('SIGSTOP');
  workers.push(await cluster.worker());
  expect((await ended).verdict).toMatchObject({ kind: 'lost', started: true });
  workers[0]!.signal('SIGCONT');
  await until(
    () => workers[0]!.trail.some(({ event }) => event === 'ended' || event === 'abandoned'),
    'the worker ends the run that nobody waits for',
  );
  expect(startsOf(workers)).toHaveLength(1);
  // It waits for nobody to receive how the run ended.
  workers[0]!.signal('SIGTERM');
  expect((await workers[0]!.running.ended).status).toBe(0);
});

test('a run that was sent to a stopped worker is not started when the worker continues too late', async () => {
  const worker = await cluster.worker();
  const backend = await cluster.backend();
  await until(() => backend.workers.length === 1, 'the worker is heard');
  const claimed = await backend.acquire({ ref: undefined }, new AbortController().signal);
  worker.signal('SIGSTOP');
  const end = await claimed.run(jobOf('1'), 'run-1', () => {}, new AbortController().signal);
  // The worker could have started it before it was stopped: nobody knows.
  expect(end).toMatchObject({ facts: null, lost: { started: null } });
  worker.signal('SIGCONT');
  await until(() => backend.workers.length === 1, 'the worker is back');
  const again = await backend.acquire({ ref: undefined }, new AbortController().signal);
  const ok = await again.run(jobOf('1'), 'run-2', () => {}, new AbortController().signal);
  expect(ok.facts).toMatchObject({ status: 0 });
  expect(startsOf([worker]).map(({ run }) => run)).toEqual(['run-2']);
  await backend.close();
});

test('a run with retry: true is run again elsewhere, and says so', async () => {
  const workers = [await cluster.worker(), await cluster.worker()];
  const pungi = await cluster.front();
  const { ended } = await begin(pungi, {
    code: 'print("begun", flush=True)\nimport time\ntime.sleep(1)',
    retry: true,
  });
  workers.find((worker) => startsOf([worker]).length === 1)!.signal('SIGKILL');
  const outcome = await ended;
  expect(outcome).toMatchObject({ verdict: { kind: 'ok' }, stdout: { text: 'begun\n' } });
  expect(outcome.notes).toEqual([
    expect.stringContaining('It was run again: The run was lost on the worker'),
  ]);
  expect(startsOf(workers)).toHaveLength(2);
});

test('a run whose claim has expired is not started, and the front end learns it', async () => {
  const worker = await cluster.worker();
  const link = await cluster.link();
  const offers = new Offers(link);
  await until(() => link.workers.all.length === 1, 'the worker is heard');
  const claim = () => offers.claim({ ref: undefined }, new AbortController().signal);
  const claimed = new RemoteWorker(link, await claim(), claim);
  await until(() => link.workers.all[0]?.busy === 1, 'the claim has a slot');
  await until(() => link.workers.all[0]?.busy === 0, 'its lease has expired');
  const end = await claimed.run(jobOf('1'), 'run-1', () => {}, new AbortController().signal);
  expect(end).toMatchObject({ facts: null, lost: { started: false } });
  expect(startsOf([worker])).toEqual([]);
  offers.close();
  await link.close();
});

test('a run that finds its worker full waits for another one, and runs once', async () => {
  const worker = await cluster.worker([], { MAX_CONCURRENT_EXECUTIONS: '1' });
  const backends = await Promise.all([cluster.backend(), cluster.backend()]);
  const { signal } = new AbortController();
  const acquire = async (backend: ClusterBackend) => {
    await until(() => backend.workers[0]?.busy === 0, 'the worker is heard');
    return backend.acquire({ ref: undefined }, signal);
  };
  // Each believes that it has the only slot.
  const workers = await Promise.all(backends.map(acquire));
  const sleep = jobOf('import time; time.sleep(0.3)');
  const ends = await Promise.all(workers.map((one, n) => one.run(sleep, `run-${n}`, () => {}, signal)));
  expect(ends.map(({ facts }) => facts?.status)).toEqual([0, 0]);
  expect(ends.map(({ waitedMs = 0 }) => waitedMs > 0).sort()).toEqual([false, true]);
  expect(new Set(startsOf([worker]).map(({ run }) => run)).size).toBe(2);
  expect(startsOf([worker])).toHaveLength(2);
  await Promise.all(backends.map((backend) => backend.close()));
});

test('a run whose worker has left before it was sent is moved to another worker', async () => {
  const worker = await cluster.worker();
  const backend = await cluster.backend();
  await until(() => backend.workers.length === 1, 'the worker is heard');
  const { signal } = new AbortController();
  const acquired = await backend.acquire({ ref: undefined }, signal);
  worker.signal('SIGKILL');
  await worker.running.ended;
  const ended = acquired.run(jobOf('1'), 'run-1', () => {}, signal);
  const other = await cluster.worker();
  expect((await ended).facts).toMatchObject({ status: 0 });
  expect(startsOf([worker, other])).toMatchObject([{ run: 'run-1' }]);
  await backend.close();
});

const hasLeft = ({ connection, subjects }: FrontLink, key: WorkerKey): Promise<boolean> =>
  connection.request(subjects.order(key, 'hold'), '', { timeout: 1000 }).then(
    () => false,
    ({ message }: Error) => message.includes('no responders'),
  );

test('a worker that was killed a moment ago gets no runs, although it seems to have more room than the other one', async () => {
  const workers = [await cluster.worker(), await cluster.worker()];
  const pungi = await cluster.front();
  const { ended } = await begin(pungi, { code: FOR_LONG });
  const idle = workers.find((worker) => startsOf([worker]).length === 0)!;
  const link = await cluster.link();
  await link.workers.first();
  const key = await until(() => link.workers.all.find(({ worker }) => worker === idle.name), 'it is heard');
  idle.signal('SIGKILL');
  await idle.running.ended;
  // What is sent before NATS has noticed is lost.
  await until(() => hasLeft(link, key), 'NATS has noticed');
  await link.close();
  const outcomes: Outcome[] = [];
  // Less time than it takes to miss it.
  for (let n = 0; n < 5; n += 1) outcomes.push(await pungi.run({ code: '1' }));
  expect(outcomes.map(({ verdict }) => verdict)).toEqual(outcomes.map(() => ({ kind: 'ok' })));
  workers.find((worker) => worker !== idle)!.signal('SIGKILL');
  await ended;
});

test('a run that finds its worker full waits no longer than it may', async () => {
  await cluster.worker([], { MAX_CONCURRENT_EXECUTIONS: '1' });
  const [one, other] = [await cluster.front(), await cluster.front()];
  // The other one may still believe that there is a free slot.
  const { ended } = await begin(one, { code: FOR_LONG });
  const asked = performance.now();
  const { verdict } = await other.run({ code: '1', limits: { timeoutMs: 3000 } });
  expect(verdict.kind).toBe('busy');
  expect(performance.now() - asked).toBeLessThan(5500);
  await one.close();
  await ended;
});

test('code whose worker is lost while it is examined: the error says so', async () => {
  const worker = await cluster.worker();
  const pungi = await cluster.front();
  worker.signal('SIGSTOP');
  await expect(pungi.examine({ code: '1' })).rejects.toMatchObject({
    code: 'RUN_LOST',
    message: expect.stringContaining('(it is not heard any more)'),
  });
});

test('a run survives a NATS server that is killed and started again', async () => {
  await cluster.worker();
  const pungi = await cluster.front();
  const lines: string[] = [];
  let ended!: Promise<Outcome>;
  await new Promise<void>((begun) => {
    ended = pungi.run(
      { code: 'import time\nfor n in range(200):\n    print(n, flush=True)\n    time.sleep(0.01)' },
      { onLine: ({ text }) => lines.push(text) === 20 && begun() },
    );
  });
  await cluster.nats.kill();
  await cluster.nats.start();
  expect((await ended).verdict).toEqual({ kind: 'ok' });
  expect(lines).toEqual(Array.from({ length: 200 }, (_, n) => `${n}`));
});

test('a run whose inputs NATS does not store has not started', async () => {
  const worker = await cluster.worker();
  const backend = await cluster.backend();
  await until(() => backend.workers.length === 1, 'the worker is heard');
  const claimed = await backend.acquire({ ref: undefined }, new AbortController().signal);
  cluster.nats.signal('SIGSTOP');
  const job = { ...jobOf('1'), stdin: 'x'.repeat(700_000) };
  const end = await claimed.run(job, 'run-1', () => {}, new AbortController().signal);
  expect(end).toMatchObject({ facts: null, lost: { started: false } });
  expect(startsOf([worker])).toEqual([]);
  cluster.nats.signal('SIGCONT');
  await backend.close();
});

test('the runs of a front end that is gone are ended by their worker', async () => {
  const worker = await cluster.worker();
  const backend = await cluster.backend();
  await until(() => backend.workers.length === 1, 'the worker is heard');
  const claimed = await backend.acquire({ ref: undefined }, new AbortController().signal);
  await new Promise<void>((begun) => {
    void claimed.run(jobOf(FOR_LONG), 'run-1', () => begun(), new AbortController().signal);
  });
  await backend.close();
  await until(() => worker.trail.some(({ event }) => event === 'abandoned'), 'the worker has ended the run');
});

const sessionsAt = async (pungi: Pungi) =>
  (await pungi.health()).cluster!.workers.map(({ sessions }) => sessions);

test('sessions that end while NATS is away end at their worker, and others stay', async () => {
  await cluster.worker();
  const pungi = await cluster.front();
  for (let n = 0; n < 3; n += 1)
    expect((await pungi.run({ code: `x = ${n}`, session: 'new' })).verdict.kind).toBe('ok');
  await cluster.nats.kill();
  const [kept, ...others] = pungi.sessions();
  for (const { id } of others) pungi.endSession(id);
  await cluster.nats.start();
  await until(async () => `${await sessionsAt(pungi)}` === '1', 'one session is left', 45_000);
  expect((await pungi.run({ code: 'x', session: kept!.id })).verdict).toEqual({ kind: 'ok' });
});

test('a fork that its front end has given up leaves nothing at its worker', async () => {
  const worker = await cluster.worker();
  const pungi = await cluster.front();
  const { session } = await pungi.run({ code: 'x = 1', session: 'new' });
  await until(async () => `${await sessionsAt(pungi)}` === '1', 'it is heard of');
  worker.signal('SIGSTOP');
  await expect(pungi.forkSession(session!.id)).rejects.toThrow(/its worker was lost/);
  worker.signal('SIGCONT');
  await until(async () => `${await sessionsAt(pungi)}` === '0', 'no session is left');
});

test('a session that is not used stays at its worker', async () => {
  await cluster.worker();
  const pungi = await cluster.front();
  const { session } = await pungi.run({ code: 'x = 1', session: 'new' });
  await pause(UNNAMED_MS + 2 * KEEP_MS);
  expect((await pungi.run({ code: 'x', session: session!.id })).value?.json).toBe(1);
});

test('a worker that is drained while a session is forked ends', async () => {
  const worker = await cluster.worker();
  const pungi = await cluster.front();
  const code = 'open("file", "wb").write(bytes(30_000_000))\nx = bytearray(b"1") * 100_000_000';
  const { session } = await pungi.run({ code, session: 'new' });
  const forked = pungi.forkSession(session!.id).catch(() => {});
  await until(() => pungi.sessions().length === 2, 'it is being forked');
  worker.signal('SIGTERM');
  await worker.running.ended;
  await forked;
});
