import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { newHandle } from '../../core/src/background/live-run.js';
import { buildOutcome } from '../../core/src/contract/outcome.js';
import { KeptOutcomes } from '../src/background/kept-outcomes.js';
import { Ledger } from '../src/background/ledger.js';
import { RunClaim } from '../src/background/run-claim.js';
import { RunQueue } from '../src/background/run-queue.js';
import { isOpen, RunStates } from '../src/background/run-states.js';
import { openStores } from '../src/background/stores.js';
import { makeKeyPair } from '../src/credentials.js';
import { Fronts } from '../src/front/fronts.js';
import { keyOfRun, type RunState } from '../src/protocol/background.js';
import { Signer, Verifier } from '../src/protocol/signing.js';
import { subjectsOf } from '../src/protocol/subjects.js';
import { Nats } from './nats.js';

let nats: Nats;
let connection: NatsConnection;
beforeAll(async () => {
  nats = await Nats.start();
  connection = await connect({ servers: nats.url });
});
afterAll(async () => {
  await connection.close();
  await nats.stop();
});

const MB = 1024 * 1024;
const never = new AbortController().signal;

/** What one front end sees of a cluster. */
async function open(cluster: string, totalBytes = 16 * MB) {
  const limits = { totalBytes, totalFileBytes: 16 * MB, keptMs: 60_000, longestMs: 60_000 };
  const { states: bucket, objects } = await openStores(connection, cluster, limits);
  const states = await RunStates.open(bucket, 120_000);
  const kept = new KeptOutcomes(bucket, objects);
  const { seed, publicKey } = makeKeyPair();
  const keys = { signer: new Signer(seed, publicKey), verifier: new Verifier([publicKey]) };
  const queue = new RunQueue(connection, cluster, keys);
  const fronts = new Fronts(connection, subjectsOf(cluster));
  const close = () => {
    states.close();
    fronts.close();
  };
  return { states, kept, ledger: new Ledger({ states, kept, queue, fronts }), close };
}

const stateOf = (more: Partial<RunState> = {}): RunState => ({
  run: newHandle(),
  acceptedAt: 'now',
  phase: 'taken',
  front: 'a',
  attempt: 'first',
  attempts: 1,
  ...more,
});

test('a front end whose run was taken by another one orders nothing, and writes no outcome', async () => {
  const [a, b] = [await open('claims'), await open('claims')];
  const state = stateOf();
  const seen = (await a.states.create(keyOfRun('me', state.run), state))!;
  let wasStopped = false;
  const claim = new RunClaim(a.states, seen, never, {
    onStop: () => {
      wasStopped = true;
    },
    withRoom: (write) => write(),
  });
  await claim.change({ phase: 'starting' });
  const now = (await b.states.get(seen.key))!;
  expect(now.state).toMatchObject({ phase: 'starting', order: seen.revision });
  await b.states.change(now, { phase: 'taken', front: 'b', attempt: 'second' });
  await expect(claim.change({ phase: 'started' })).rejects.toMatchObject({ code: 'CANCELLED' });
  await expect(claim.change({ phase: 'ended' })).rejects.toMatchObject({ code: 'CANCELLED' });
  expect([claim.isLost, wasStopped]).toEqual([true, true]);
  expect((await a.states.get(seen.key))?.state).toMatchObject({ phase: 'taken', attempt: 'second' });
  a.close();
  b.close();
});

test('a front end keeps a run that its owner cancels meanwhile, and hears of it', async () => {
  const [a, b] = [await open('claims'), await open('claims')];
  const state = stateOf();
  const seen = (await a.states.create(keyOfRun('me', state.run), state))!;
  let wasStopped = false;
  const claim = new RunClaim(a.states, seen, never, {
    onStop: () => {
      wasStopped = true;
    },
    withRoom: (write) => write(),
  });
  await b.states.change((await b.states.get(seen.key))!, { isCancelled: true });
  await claim.change({ phase: 'ended' });
  expect(wasStopped).toBe(true);
  expect((await b.states.get(seen.key))?.state).toMatchObject({ phase: 'ended', isCancelled: true });
  a.close();
  b.close();
});

test('of two front ends that end a run, the first one prevails', async () => {
  const [a, b] = [await open('claims'), await open('claims')];
  const state = stateOf({ phase: 'queued' });
  const seen = (await a.states.create(keyOfRun('me', state.run), state))!;
  const outcome = buildOutcome({ verdict: { kind: 'ok' } });
  const ends = await Promise.all([a.ledger.end(seen, outcome), b.ledger.end(seen, a.ledger.lost(seen))]);
  expect(ends.filter((one) => one !== undefined)).toHaveLength(1);
  const { outcome: kept } = await a.ledger.describe((await a.states.get(seen.key))!);
  expect(kept?.verdict.kind).toBe(ends[0] ? 'ok' : 'lost');
  a.close();
  b.close();
});

test('a run that is in no queue, and whose front end is not heard, is marked as lost by whoever looks', async () => {
  const a = await open('looking');
  const evidence = { queued: false, taken: false, starting: null, started: true };
  for (const [phase, started] of Object.entries(evidence)) {
    const state = stateOf({ phase: phase as RunState['phase'] });
    const seen = (await a.states.create(keyOfRun('me', state.run), state))!;
    const ended = await until(async () => {
      const now = await a.ledger.settle(seen);
      return isOpen(now) ? undefined : now;
    }, 'it is marked');
    expect((await a.ledger.describe(ended)).outcome?.verdict).toMatchObject({ kind: 'lost', started });
  }
  a.close();
});

test('when the bucket is full, the oldest outcome of whoever has the most makes room', async () => {
  const a = await open('full', 256 * 1024);
  const accept = async (owner: string) => {
    const state = stateOf({ phase: 'queued' });
    return a.ledger.accept(keyOfRun(owner, state.run), owner, state);
  };
  const text = 'x'.repeat(20_000);
  const end = async (owner: string) => {
    const seen = (await accept(owner))!;
    const outcome = buildOutcome({
      verdict: { kind: 'ok' },
      stdout: { text, bytes: text.length, truncated: false },
    });
    return (await a.states.change(seen, {
      phase: 'ended',
      outcome: (await a.ledger.keep(outcome, never))!,
    }))!;
  };
  const modest = await end('modest');
  const all: string[] = [];
  for (let n = 0; n < 20; n++) all.push((await end('greedy')).key);
  const left = a.states.all('greedy').map(({ key }) => key);
  expect(left.length).toBeLessThan(all.length);
  expect(left).toEqual(all.slice(-left.length));
  expect((await a.ledger.describe(modest)).outcome?.stdout.text.length).toBe(text.length);
  a.close();
});
