import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lastingFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import { pungi as command, type Ended, start } from '../../cli/tests/pungi.js';
import type { Pungi } from '../../core/src/pungi.js';
import { makeKeyPair, writeCredentials } from '../src/credentials.js';
import type { ClusterStatus } from '../src/operator/cluster-status.js';
import { Signer } from '../src/protocol/signing.js';
import { subjectsOf } from '../src/protocol/subjects.js';
import { PROTOCOL } from '../src/protocol/version.js';
import { TestCluster, type TestWorker } from './cluster.js';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await TestCluster.start();
});
afterEach(() => cluster.stop());

const flags = (creds = cluster.frontCreds) => ['--cluster', cluster.nats.url, '--creds', creds];
const run = (args: string[], creds?: string): Promise<Ended> =>
  command(['cluster', ...args, ...flags(creds)]);
const status = async (): Promise<ClusterStatus> =>
  JSON.parse((await run(['status', '--json'])).stdout) as ClusterStatus;

/** Starts a run of its own length, and resolves once it prints. */
async function begin(pungi: Pungi, request: { code: string; session?: string }) {
  const stop = new AbortController();
  let ended!: ReturnType<Pungi['run']>;
  await new Promise<void>((begun) => {
    ended = pungi.run(request, { signal: stop.signal, onLine: () => begun() });
  });
  return { ended, stop };
}
const FOR_EVER = 'print("begun", flush=True)\nimport time\nwhile True: time.sleep(0.01)';

test('status shows workers, front ends, totals, and what is wrong', async () => {
  expect(await status()).toMatchObject({
    workers: [],
    problems: ['No worker is connected to the cluster "main".', 'No front end is connected.'],
  });
  await cluster.worker(['--label', 'gpu=true']);
  const pungi = await cluster.front();
  const { ended, stop } = await begin(pungi, { code: FOR_EVER });
  const { workers, frontEnds, totals, problems } = await status();
  expect(workers).toMatchObject([
    {
      name: 'w1',
      state: 'ready',
      details: { arch: process.arch, labels: { gpu: 'true' }, slots: 5, busy: 1, queue: 0, sessions: 0 },
    },
  ]);
  expect(workers[0]!.details!.load).toBeGreaterThanOrEqual(0);
  expect(workers[0]!.details!.warm.length).toBeGreaterThan(0);
  expect(frontEnds).toMatchObject([{ queue: { active: 1, waiting: 0 } }]);
  expect(totals).toMatchObject({ workers: 1, ready: 1, slots: 5, busy: 1, active: 1, waiting: 0 });
  expect(problems).toEqual([]);
  const { stdout } = await run(['status']);
  expect(stdout).toMatch(/^WORKER +STATE +VERSION/);
  expect(stdout).toMatch(/\nw1 +ready .* 1\/5 .* gpu=true\n/);
  stop.abort();
  await ended;
});

test('runs that wait for a worker are counted', async () => {
  await cluster.worker([], { MAX_CONCURRENT_EXECUTIONS: '1' });
  const pungi = await cluster.front();
  const first = await begin(pungi, { code: FOR_EVER });
  const others = [1, 2, 3].map(() => pungi.run({ code: '1' }));
  expect((await status()).totals).toMatchObject({ active: 1, waiting: 3, busy: 1 });
  expect((await pungi.health()).cluster).toMatchObject({ name: 'main', waiting: 3 });
  first.stop.abort();
  await Promise.all([first.ended, ...others]);
});

test('a silent worker and one of another version are seen at a glance', async () => {
  const worker = await cluster.worker();
  const pungi = await cluster.front();
  worker.signal('SIGSTOP');
  await until(async () => (await pungi.health()).cluster!.workers[0]?.state === 'silent', 'it is missed');
  expect(await pungi.health()).toMatchObject({
    status: 'degraded',
    problem: 'No worker of the cluster "main" takes runs (w1 is silent): start one with pungi worker.',
  });
  const other = await connect({ servers: cluster.nats.url });
  const old = { v: PROTOCOL + 2, worker: 'newer', incarnation: 'x', state: 'ready', version: '9.0.0' };
  const beating = setInterval(
    () => other.publish(subjectsOf('main').beat('newer'), JSON.stringify(old)),
    100,
  );
  const { workers, problems } = await status();
  clearInterval(beating);
  await other.close();
  expect(workers).toMatchObject([
    { name: 'newer', state: 'ready', version: '9.0.0', details: null },
    { name: 'w1', state: 'silent' },
  ]);
  expect(problems.join('\n')).toMatch(/The worker w1 has been silent for \d+ s\./);
  expect(problems.join('\n')).toContain(
    'The worker newer has version 9.0.0, which gets no runs from version',
  );
});

test('status --watch goes on until Ctrl-C', async () => {
  const watching = start(['cluster', 'status', '--watch', ...flags()]);
  await watching.shows('stdout', 'No worker is connected');
  await cluster.worker();
  await watching.shows('stdout', /w1 +ready/);
  watching.child.kill('SIGINT');
  expect((await watching.ended).status).toBe(0);
});

test('a cordoned worker takes no runs, keeps its sessions, and takes runs after uncordon', async () => {
  const workers = [await cluster.worker(), await cluster.worker()];
  const pungi = await cluster.front();
  const { session } = await pungi.run({ code: 'x = 1', session: 'new' });
  const holder = workers.find(({ trail }) => trail.length > 0)!;
  expect(await run(['cordon', holder.name])).toMatchObject({ status: 0 });
  const starts = () => holder.trail.filter(({ event }) => event === 'started').length;
  const before = starts();
  for (const _ of [1, 2, 3, 4, 5, 6]) expect((await pungi.run({ code: '1' })).verdict.kind).toBe('ok');
  expect(starts()).toBe(before);
  expect((await pungi.run({ code: 'x', session: session!.id })).value?.json).toBe(1);
  expect((await status()).workers.find(({ name }) => name === holder.name)?.state).toBe('cordoned');
  expect((await run(['uncordon', holder.name])).stdout).toBe(`The worker ${holder.name} takes runs.\n`);
  await until(async () => {
    await pungi.run({ code: '1' });
    return starts() > before + 1;
  }, 'it takes runs again');
});

test('drain waits for runs, ends idle sessions with the reason, shows progress, and the worker ends', async () => {
  const worker: TestWorker = await cluster.worker();
  const pungi = await cluster.front();
  const { session } = await pungi.run({ code: 'x = 1', session: 'new' });
  const { ended, stop } = await begin(pungi, { code: FOR_EVER });
  const draining = start(['cluster', 'drain', 'w1', ...flags()]);
  await draining.shows('stderr', 'w1 is draining: 1 run and 0 sessions left.');
  const { verdict } = await pungi.run({ code: 'x', session: session!.id });
  expect(verdict).toMatchObject({
    kind: 'no-session',
    message: expect.stringContaining('Its worker, w1, is being drained.'),
  });
  expect(worker.running.child.exitCode).toBe(null);
  stop.abort();
  await ended;
  expect(await draining.ended).toMatchObject({
    status: 0,
    stdout: 'The worker w1 was drained, and has ended.\n',
  });
  expect((await worker.running.ended).status).toBe(0);
});

test('an unknown worker gets a suggestion', async () => {
  await cluster.worker(['--worker-name', 'machine-one']);
  expect(await run(['cordon', 'machine-on'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining(
      'There is no worker "machine-on" in the cluster "main" (did you mean machine-one?); connected: machine-one.',
    ),
  });
});

test('operators may give orders to workers, and nothing else; strangers may not', async () => {
  const operator = makeKeyPair();
  const [own, stranger] = [join(lastingFolder(), 'operator'), join(lastingFolder(), 'stranger')];
  writeCredentials(own, { signing: operator.seed });
  writeCredentials(stranger, { signing: makeKeyPair().seed });
  writeCredentials(cluster.workerCreds, { operators: operator.publicKey });
  const worker = await cluster.worker();
  expect(await run(['cordon', 'w1'], own)).toMatchObject({ status: 0 });
  expect(await run(['uncordon', 'w1'], stranger)).toMatchObject({
    status: 77,
    stderr: expect.stringContaining('did not follow the order to uncordon'),
  });
  expect((await status()).workers[0]!.state).toBe('cordoned');
  expect(await run(['uncordon', 'w1'], own)).toMatchObject({ status: 0 });

  // An offer that an operator has signed is not taken.
  const pungi = await cluster.front();
  const enemy = await connect({ servers: cluster.nats.url });
  const subject = subjectsOf('main').offer({ generation: 'any', arch: 'any', need: 'any' });
  const offer = Buffer.from(JSON.stringify({ v: PROTOCOL, front: 'enemy', token: 'mine' }));
  const answers: string[] = [];
  enemy.subscribe('pungi.main.reply.enemy.*', { callback: (_, { data }) => void answers.push(`${data}`) });
  enemy.publish(subject, new Signer(operator.seed, operator.publicKey).sign(subject, offer));
  await enemy.flush();
  expect((await pungi.run({ code: '1' })).verdict.kind).toBe('ok');
  expect(answers).toEqual([]);
  expect(worker.trail.filter(({ event }) => event === 'started')).toHaveLength(1);
  await enemy.close();
});

test('an order that was sent before, sent again, is not followed', async () => {
  await cluster.worker();
  const enemy = await connect({ servers: cluster.nats.url });
  const seen: { subject: string; data: Uint8Array }[] = [];
  enemy.subscribe('pungi.main.worker.>', {
    callback: (_, { subject, data }) => void seen.push({ subject, data }),
  });
  await enemy.flush();
  expect(await run(['cordon', 'w1'])).toMatchObject({ status: 0 });
  expect(await run(['uncordon', 'w1'])).toMatchObject({ status: 0 });
  for (const { subject, data } of seen.filter(({ subject: one }) => one.endsWith('.cordon')))
    enemy.publish(subject, data);
  await enemy.flush();
  const pungi = await cluster.front();
  expect((await pungi.run({ code: '1' })).verdict.kind).toBe('ok');
  expect((await status()).workers[0]!.state).toBe('ready');
  await enemy.close();
});
