import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Kvm } from '@nats-io/kv';
import { connect } from '@nats-io/transport-node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { type Running, start } from '../../cli/tests/pungi.js';
import type { Pungi } from '../../core/src/pungi.js';
import { newClient } from '../../server/tests/doors.js';
import { TestCluster, type TestWorker } from './cluster.js';

let cluster: TestCluster;
let worker: TestWorker;
let fronts: Running[];
beforeEach(async () => {
  fronts = [];
  cluster = await TestCluster.start();
  worker = await cluster.worker([], { MAX_CONCURRENT_EXECUTIONS: '4' });
});
afterEach(async () => {
  for (const { child } of fronts) child.kill('SIGKILL');
  await Promise.all(fronts.map(({ ended }) => ended));
  await cluster.stop();
});

/** As front ends know the client of these tests. */
const caller = { client: 'tests 1.0.0' };
/** The slots of background runs are half of these. */
const ONE_SLOT = { MAX_CONCURRENT_EXECUTIONS: '2' };
const LONG = 'print("begun", flush=True)\nimport time\ntime.sleep(600)';

/** A front end in a process of its own, with a client. */
async function serve(env: Record<string, string> = {}): Promise<{ running: Running; client: Client }> {
  const at = ['--cluster', cluster.nats.url, '--creds', cluster.frontCreds];
  const running = start(['serve', '--http', '127.0.0.1:0', ...at], { env });
  fronts.push(running);
  const url = /http:\S+\/mcp/.exec(await running.shows('stderr', /serves MCP at (\S+)/))![0];
  const client = newClient('legacy');
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return { running, client };
}

async function accept(client: Client, args: Record<string, unknown>): Promise<string> {
  const call = { name: 'execute_python', arguments: { ...args, background: true, timeoutMs: 900_000 } };
  return ((await client.callTool(call)).structuredContent as { run: string }).run;
}

async function kill({ child, ended }: Running): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

/** Waits until the front end that runs it has shown a line. */
const begun = (client: Client, run: string) =>
  until(async () => {
    const { structuredContent } = await client.callTool({ name: 'get_run', arguments: { run } });
    return (structuredContent as { lines?: string[] }).lines?.includes('begun');
  }, 'the run has begun');

async function outcomeAt(pungi: Pungi, run: string) {
  const found = await until(
    async () => {
      const seen = await pungi.getRun(run, { waitMs: 5000, caller });
      return seen.outcome && seen;
    },
    'the run has ended',
    60_000,
  );
  return found.outcome!;
}

/** As the cluster has it. */
async function phaseOf(run: string): Promise<unknown> {
  const connection = await connect({ servers: cluster.nats.url });
  try {
    const bucket = await new Kvm(connection).open('pungi-main-outcomes');
    for await (const key of await bucket.keys('run.>'))
      if (key.endsWith(run)) return (await bucket.get(key))?.json<{ phase: string }>().phase;
    return undefined;
  } finally {
    await connection.close();
  }
}

const starts = () => worker.trail.filter(({ event }) => event === 'started').length;

test('a run that waits when its front end is killed is run by another one', async () => {
  const a = await serve(ONE_SLOT);
  await begun(a.client, await accept(a.client, { code: LONG }));
  const waiting = await accept(a.client, { code: '6 * 7' });
  await kill(a.running);
  const b = await cluster.front();
  expect(await outcomeAt(b, waiting)).toMatchObject({ verdict: { kind: 'ok' }, value: { json: 42 } });
});

test('a run that has started when its front end is killed is lost, and is not started again', async () => {
  const a = await serve();
  const run = await accept(a.client, { code: LONG });
  await begun(a.client, run);
  const b = await cluster.front();
  expect(await b.getRun(run, { caller })).toMatchObject({ state: 'running' });
  await kill(a.running);
  const { verdict, runId } = await outcomeAt(b, run);
  expect(verdict).toMatchObject({ kind: 'lost', code: 'RUN_LOST', started: true });
  expect(worker.trail.map((line) => [line.event, line.run])).toContainEqual(['started', runId]);
  expect(await b.listRuns(caller)).toMatchObject([{ run, state: 'ended' }]);
  expect(starts()).toBe(1);
});

test('a front end serves before there is a worker, and says so; a background run waits for one', async () => {
  worker.signal('SIGKILL');
  await worker.running.ended;
  const a = await serve();
  await a.running.shows('stderr', 'No worker is connected yet');
  const run = await accept(a.client, { code: '6 * 7' });
  worker = await cluster.worker();
  await a.running.shows('stderr', 'is ready; isolation tier');
  const ended = await until(async () => {
    const { _meta } = await a.client.callTool({ name: 'get_run', arguments: { run } });
    return _meta?.['pungi/outcome'];
  }, 'the run has ended');
  expect(ended).toMatchObject({ verdict: { kind: 'ok' }, value: { json: 42 } });
});

test('a run that was taken, but not ordered, when its front end is killed is run by another one', async () => {
  const a = await serve();
  worker.signal('SIGTERM');
  await worker.running.ended;
  const run = await accept(a.client, { code: '6 * 7' });
  await until(async () => (await phaseOf(run)) === 'taken', 'the front end has taken it');
  await kill(a.running);
  worker = await cluster.worker();
  const b = await cluster.front();
  expect(await outcomeAt(b, run)).toMatchObject({ verdict: { kind: 'ok' }, value: { json: 42 } });
  expect(starts()).toBe(1);
});

test('a run that may be repeated is started again by another front end', async () => {
  const a = await serve();
  const code = 'print("begun", flush=True)\nimport time\ntime.sleep(2)\n5';
  const run = await accept(a.client, { code, retry: true });
  await begun(a.client, run);
  const b = await cluster.front();
  await kill(a.running);
  const { verdict, value, notes } = await outcomeAt(b, run);
  expect([verdict.kind, value?.json]).toEqual(['ok', 5]);
  expect(notes).toEqual(['It was run again: the front end that ran it was lost.']);
  expect(starts()).toBe(2);
});

test('a run in a session is lost with its front end', async () => {
  const a = await serve();
  const run = await accept(a.client, { code: LONG, session: 'new' });
  await begun(a.client, run);
  const b = await cluster.front();
  await kill(a.running);
  expect((await outcomeAt(b, run)).verdict).toMatchObject({ kind: 'lost', started: true });
  expect(starts()).toBe(1);
});

test('outcomes and files are there after the front end that ran it has ended', async () => {
  const a = await serve();
  const run = await accept(a.client, { code: 'open("a.txt", "w").write("kept"); "done"' });
  await until(
    async () => (await a.client.callTool({ name: 'get_run', arguments: { run } }))._meta?.['pungi/outcome'],
    'the run has ended',
  );
  await kill(a.running);
  const b = await cluster.front();
  const { runId, value } = await outcomeAt(b, run);
  expect(value?.json).toBe('done');
  expect((await b.readArtifact({ run: runId, path: 'a.txt' }, caller)).content.toString()).toBe('kept');
});

test('a front end that was stopped for a while does not start what another one has taken, nor replace its outcome', async () => {
  const a = await serve();
  const run = await accept(a.client, { code: LONG });
  await begun(a.client, run);
  const b = await cluster.front();
  a.running.child.kill('SIGSTOP');
  const outcome = await outcomeAt(b, run);
  expect(outcome.verdict).toMatchObject({ kind: 'lost', started: true });
  a.running.child.kill('SIGCONT');
  // It drops what it had, and answers as the other one does.
  const seen = await until(
    async () => (await a.client.callTool({ name: 'get_run', arguments: { run } }))._meta?.['pungi/outcome'],
    'it knows the outcome',
  );
  expect(seen).toMatchObject({ verdict: { kind: 'lost' } });
  expect(await outcomeAt(b, run)).toEqual(outcome);
  expect(starts()).toBe(1);
});

test('a front end that is stopped cancels what it runs, and leaves to others what waits', async () => {
  const a = await serve(ONE_SLOT);
  const running = await accept(a.client, { code: LONG });
  await begun(a.client, running);
  const waiting = await accept(a.client, { code: '7' });
  a.running.child.kill('SIGTERM');
  await a.running.ended;
  const b = await cluster.front();
  expect((await outcomeAt(b, running)).verdict).toMatchObject({
    kind: 'cancelled',
    message: 'The run was cancelled: the server was stopped.',
  });
  expect((await outcomeAt(b, waiting)).value?.json).toBe(7);
});
