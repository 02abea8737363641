import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { Objm } from '@nats-io/obj';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import type { Caller } from '../../core/src/contract/caller.js';
import type { Outcome } from '../../core/src/contract/outcome.js';
import type { Pungi } from '../../core/src/pungi.js';
import { TestCluster } from './cluster.js';

let cluster: TestCluster;
let nats: NatsConnection;
beforeEach(async () => {
  cluster = await TestCluster.start();
  await cluster.worker([], { MAX_CONCURRENT_EXECUTIONS: '4' });
  nats = await connect({ servers: cluster.nats.url });
});
afterEach(async () => {
  await nats.close();
  await cluster.stop();
});

const caller = { client: 'somebody' };
const SLEEP = 'import time\ntime.sleep(600)';
const LONG = { code: SLEEP, limits: { timeoutMs: 900_000 } };
const ARTIFACTS = 'OBJ_pungi-main-artifacts';

async function ended(at: Pungi, run: string, by: Partial<Caller> = caller) {
  const found = await until(
    async () => {
      const seen = await at.getRun(run, { waitMs: 5000, caller: by });
      return seen.outcome && seen;
    },
    'the run has ended',
    60_000,
  );
  return found.outcome!;
}

/** The first front end has no turn for a background run: another one runs what it accepts. */
async function occupy(front: Pungi, profile?: string): Promise<void> {
  const busy = { client: 'busy' };
  const named = profile === undefined ? {} : { profile };
  const { session } = await front.run({ code: '1', session: 'new', ...named }, { caller: busy });
  const { run } = await front.runInBackground({ ...LONG, ...named, session: session!.id }, { caller: busy });
  await until(
    async () => (await front.getRun(run, { caller: busy })).state === 'running',
    'the front end is busy',
  );
}

test('a run has the profile of the front end that accepted it, whichever runs it', async () => {
  const profilesFile = join(temporaryFolder(), 'profiles.yaml');
  writeFileSync(profilesFile, 'profiles:\n  locked:\n    blocked_imports: [os]\n  open: {}\n');
  const one = { profilesFile, maxConcurrentExecutions: 2 };
  const strict = await cluster.front({ ...one, defaultProfile: 'locked' });
  await occupy(strict, 'open');
  await cluster.front({ ...one, defaultProfile: 'open' });
  const { run } = await strict.runInBackground({ code: 'import os' }, { caller });
  expect(await ended(strict, run)).toMatchObject({ profile: 'locked', verdict: { kind: 'denied' } });
});

test('a front end refuses a profile that another one allows', async () => {
  const profilesFile = join(temporaryFolder(), 'profiles.yaml');
  writeFileSync(profilesFile, 'profiles:\n  locked:\n    blocked_imports: [os]\n  open: {}\n');
  await cluster.front({ profilesFile });
  const strict = await cluster.front({ profilesFile, defaultProfile: 'locked', allowedProfiles: ['locked'] });
  for (let n = 0; n < 4; n += 1) {
    const { run } = await strict.runInBackground({ code: 'import os', profile: 'open' }, { caller });
    expect((await ended(strict, run)).verdict.kind).toBe('denied');
  }
});

test('the requests of runs that were cancelled while they waited take no room', async () => {
  const front = await cluster.front({ maxConcurrentExecutions: 2 });
  await occupy(front);
  const { streams } = await jetstreamManager(nats);
  for (let n = 0; n < 3; n += 1) {
    const { run } = await front.runInBackground({ code: '1', stdin: 'x'.repeat(500_000) }, { caller });
    await front.cancelRun(run, caller);
  }
  await until(
    async () => (await streams.info(ARTIFACTS)).state.bytes < 100_000,
    'what was stored for them is removed',
  );
});

test('a run whose stored request is gone ends, and leaves the queue', async () => {
  const front = await cluster.front({ maxConcurrentExecutions: 2 });
  await occupy(front);
  const { run } = await front.runInBackground({ code: '1', stdin: 'x'.repeat(500_000) }, { caller });
  const objects = await new Objm(nats).open('pungi-main-artifacts');
  for (const { name } of await objects.list()) await objects.delete(name);
  await cluster.front();
  expect((await ended(front, run)).verdict).toMatchObject({ kind: 'lost', started: false });
});

test('files of one caller take half of the room at most, the oldest make room, and others keep theirs', async () => {
  const [a, b] = [await cluster.front({ artifactTotalMb: 4 }), await cluster.front({ artifactTotalMb: 4 })];
  const leave = async (client: string, megabytes: number) => {
    const code = `open("a.bin", "wb").write(bytes(${megabytes} << 20))`;
    const { run } = await a.runInBackground({ code }, { caller: { client } });
    return ended(a, run, { client });
  };
  // Of the two front ends one has run it, and has its files itself: both are asked.
  const areShared = async ({ runId }: Outcome, client: string) => {
    const stored = (await new Kvm(nats).open('pungi-main-outcomes')).keys('files.>');
    const names = [];
    for await (const key of await stored) names.push(key);
    const has = names.some((key) => key.endsWith(`.${runId}`));
    if (has)
      for (const front of [a, b])
        expect((await front.readArtifact({ run: runId, path: 'a.bin' }, { client })).content).toHaveLength(
          1 << 20,
        );
    return has;
  };
  const quiet = await leave('quiet', 1);
  const greedy = [await leave('greedy', 1), await leave('greedy', 1), await leave('greedy', 1)];
  expect(await Promise.all(greedy.map((one) => areShared(one, 'greedy')))).toEqual([false, true, true]);
  expect((await leave('greedy', 3)).notes).toEqual([
    expect.stringContaining('more than half of ARTIFACT_TOTAL_MB'),
  ]);
  expect(await areShared(quiet, 'quiet')).toBe(true);
  const { streams } = await jetstreamManager(nats);
  await until(
    async () => (await streams.info(ARTIFACTS)).state.bytes < 4 << 20,
    'what was removed takes no room',
  );
});

/** Fills a store to the last byte. */
async function fill(put: (bytes: number) => Promise<unknown>): Promise<void> {
  for (let bytes = 700_000; bytes > 0; )
    await put(bytes).catch(() => {
      bytes = Math.floor(bytes / 2);
    });
}

test('a large outcome makes room in a full object store, or is kept without its output', async () => {
  const front = await cluster.front({ backgroundMb: 16, artifactTotalMb: 1, maxOutputBytes: 1_000_000 });
  const { run: first } = await front.runInBackground({ code: '1' }, { caller });
  await ended(front, first);
  await fill((bytes) => nats.request('$O.pungi-main-artifacts.C.full', Buffer.alloc(bytes)).then(isStored));
  const { run } = await front.runInBackground({ code: 'print("x" * 300_000)' }, { caller });
  expect(await ended(front, run)).toMatchObject({
    verdict: { kind: 'ok' },
    notes: [expect.stringContaining('no room')],
  });
}, 120_000);

test('ended runs make room for the state of one that begins', async () => {
  const front = await cluster.front({ backgroundMb: 16, maxConcurrentExecutions: 12 });
  const { run: first } = await front.runInBackground({ code: 'print("x" * 20_000)' }, { caller });
  await ended(front, first);
  const stopping = new AbortController();
  const busy = Array.from({ length: 4 }, () => front.run(LONG, { signal: stopping.signal }));
  await until(async () => (await front.health()).queue.active === 4, 'no worker has a slot');
  const { run } = await front.runInBackground({ code: '1' }, { caller });
  const bucket = await new Kvm(nats).open('pungi-main-outcomes');
  const phase = async () => {
    for await (const key of await bucket.keys('run.>'))
      if (key.endsWith(run)) return (await bucket.get(key))?.json<{ phase: string }>().phase;
    return undefined;
  };
  await until(async () => (await phase()) === 'taken', 'the run waits for a worker');
  let serial = 0;
  await fill((bytes) => bucket.put(`other.${serial++}`, Buffer.alloc(bytes)));
  stopping.abort();
  await Promise.all(busy);
  expect((await ended(front, run)).verdict.kind).toBe('ok');
}, 120_000);

function isStored({ data }: { data: Uint8Array }): void {
  if (Buffer.from(data).includes('"error"')) throw new Error('full');
}
