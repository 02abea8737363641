import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import type { Outcome } from '../../core/src/contract/outcome.js';
import type { Pungi } from '../../core/src/pungi.js';
import { TestCluster, type TestWorker } from './cluster.js';

let cluster: TestCluster;
let workers: TestWorker[];
let pungi: Pungi;
beforeAll(async () => {
  cluster = await TestCluster.start();
  workers = [await cluster.worker(), await cluster.worker()];
  pungi = await cluster.front();
});
afterAll(() => cluster.stop());

const valueIn = async (session: string, code: string) => {
  const outcome = await pungi.run({ code, session });
  expect(outcome.verdict).toEqual({ kind: 'ok' });
  return outcome.value?.json;
};

async function open(code: string): Promise<string> {
  const { session, verdict } = await pungi.run({ code, session: 'new' });
  expect(verdict).toEqual({ kind: 'ok' });
  expect(session).toMatchObject({ alive: true });
  return session!.id;
}

test('a session keeps its variables on the worker that holds it', async () => {
  const sessions = await Promise.all([1, 2, 3, 4].map((n) => open(`x = ${n}`)));
  for (const round of [1, 2, 3])
    for (const [index, id] of sessions.entries())
      expect(await valueIn(id, 'x += 1; x')).toBe(index + 1 + round);
  for (const id of sessions) pungi.endSession(id);
});

test('runs of a session follow each other at once, in order', async () => {
  const id = await open('seen = []');
  const runs = Array.from({ length: 15 }, (_, n) => valueIn(id, `seen.append(${n}); len(seen)`));
  expect(await Promise.all(runs)).toEqual(Array.from({ length: 15 }, (_, n) => n + 1));
  pungi.endSession(id);
});

test('a session is saved, restored, forked and completed through the cluster', async () => {
  const id = await open('value = 1');
  const { checkpoint } = await pungi.checkpoint(id);
  expect(await valueIn(id, 'value = 2; value')).toBe(2);
  const fork = await pungi.forkSession(id);
  expect(await valueIn(fork.id, 'value += 10; value')).toBe(12);
  await pungi.restore(id, checkpoint);
  expect(await valueIn(id, 'value')).toBe(1);
  expect(await valueIn(fork.id, 'value')).toBe(12);
  const completion = await pungi.complete({ code: 'val', session: id });
  expect(JSON.stringify(completion)).toContain('value');
  for (const each of [id, fork.id]) pungi.endSession(each);
});

test('a session that ends leaves nothing on its worker', async () => {
  const id = await open('x = 1');
  pungi.endSession(id);
  const backend = await cluster.backend();
  await until(
    () =>
      backend.workers.length === 2 && backend.workers.every(({ sessions, busy }) => sessions + busy === 0),
    'no worker holds a session',
  );
  await backend.close();
});

test('sessions of a worker that was drained make room for new ones', async () => {
  const front = await cluster.front({ maxSessionsPerCaller: 2 });
  const begin = () => front.run({ code: 'x = 1', session: 'new' });
  const others = [await cluster.worker(['--label', 'last=true'])];
  const labels = { last: 'true' };
  await until(async () => (await front.run({ code: '1', labels })).verdict.kind === 'ok', 'it is heard');
  for (const _ of [1, 2])
    expect((await front.run({ code: 'x = 1', session: 'new', labels })).verdict.kind).toBe('ok');
  expect((await begin()).verdict).toMatchObject({ kind: 'busy', fault: 'caller' });
  expect(front.sessions()).toHaveLength(2);
  others[0]!.signal('SIGTERM');
  await until(() => front.sessions().length === 0, 'they have ended');
  expect(await begin()).toMatchObject({ verdict: { kind: 'ok' }, session: { alive: true } });
  for (const { id } of front.sessions()) front.endSession(id);
});

test('a session whose worker is killed has ended, and says so', async () => {
  const id = await open('x = 1');
  for (const worker of workers) worker.signal('SIGKILL');
  const { verdict } = await pungi.run({ code: 'x', session: id });
  expect(['lost', 'no-session']).toContain(verdict.kind);
  const after = await pungi.run({ code: 'x', session: id });
  expect(after.verdict).toMatchObject({ kind: 'no-session', code: 'SESSION_ENDED' });
});

describe('with workers that hold two sessions each', () => {
  let fronts: Pungi[];
  let few: TestCluster;
  beforeAll(async () => {
    few = await TestCluster.start();
    await few.worker([], { MAX_SESSIONS: '2', MAX_CONCURRENT_EXECUTIONS: '4' });
    fronts = [await few.front(), await few.front()];
  });
  afterAll(() => few.stop());

  const begin = (front: Pungi) => front.run({ code: 'x = 1', session: 'new' });
  const endAll = () => {
    for (const front of fronts) for (const { id } of front.sessions()) front.endSession(id);
  };
  afterEach(endAll);

  test('all front ends together get no more', async () => {
    const outcomes = await Promise.all(fronts.flatMap((front) => [1, 2, 3, 4].map(() => begin(front))));
    const kinds = outcomes.map(({ verdict }) => verdict.kind).sort();
    expect(kinds).toEqual([...Array(6).fill('busy'), 'ok', 'ok']);
    const refused = outcomes.find(({ verdict }) => verdict.kind === 'busy');
    expect(refused?.verdict).toMatchObject({
      code: 'SERVER_BUSY',
      message: expect.stringMatching(/MAX_SESSIONS/),
    });
    // It never was: an agent is not told that its variables are gone.
    expect(refused).not.toHaveProperty('session');
    expect(fronts.flatMap((front) => front.sessions())).toHaveLength(2);
  });

  test('a session that waits for room holds no other run back, and begins when another has ended', async () => {
    const held = await Promise.all(fronts.map(begin));
    expect(held.map(({ verdict }) => verdict.kind)).toEqual(['ok', 'ok']);
    const [refused, ...others] = await Promise.all([
      begin(fronts[0]!),
      ...fronts.map((front) => front.run({ code: '1' })),
    ]);
    expect(refused!.verdict.kind).toBe('busy');
    expect(others.map(({ verdict }) => verdict.kind)).toEqual(['ok', 'ok']);
    endAll();
    await untilOk(() => begin(fronts[1]!));
  });

  test('a fork is one of them', async () => {
    const [{ session }] = (await Promise.all(fronts.map(begin))) as [Outcome, Outcome];
    await expect(fronts[0]!.forkSession(session!.id)).rejects.toThrow(/as many sessions as it may/);
    expect((await fronts[0]!.run({ code: 'x', session: session!.id })).value?.json).toBe(1);
    fronts[1]!.endSession(fronts[1]!.sessions()[0]!.id);
    await until(async () => {
      try {
        await fronts[0]!.forkSession(session!.id);
        return true;
      } catch {
        return false;
      }
    }, 'the session is forked');
  });

  test('of two workers, the one whose session has just ended takes the next one', async () => {
    await few.worker([], { MAX_SESSIONS: '2', MAX_CONCURRENT_EXECUTIONS: '4' });
    const front = await few.front();
    const four = [1, 2, 3, 4];
    for (const _ of four) await untilOk(() => begin(front));
    for (const _ of four) {
      // Their heartbeats say that both are full.
      await until(async () => (await sessionsAt(front)).every((sessions) => sessions === 2), 'both are full');
      front.endSession(front.sessions()[0]!.id);
      expect((await begin(front)).verdict).toEqual({ kind: 'ok' });
    }
    for (const { id } of front.sessions()) front.endSession(id);
  });
});

const sessionsAt = async (front: Pungi) =>
  (await front.health()).cluster!.workers.map(({ sessions }) => sessions);

const untilOk = (attempt: () => Promise<Outcome>) =>
  until(async () => (await attempt()).verdict.kind === 'ok', 'a run ends well');
