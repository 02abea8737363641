import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import type { GivenConfig } from '../../core/src/config/schema.js';
import type { Outcome } from '../../core/src/contract/outcome.js';
import type { Pungi } from '../../core/src/pungi.js';
import type { ClusterBackend } from '../src/front/cluster-backend.js';
import { type Go, pack } from '../src/protocol/messages.js';
import { goodEnd, LyingWorker, type Tactic } from './lying-worker.js';
import { SecureCluster } from './secure-cluster.js';

let cluster: SecureCluster;
/** Sees the workers, as the front end of the test does. */
let watcher: ClusterBackend;
let pungi: Pungi;
let liars: LyingWorker[] = [];

beforeAll(async () => {
  cluster = await SecureCluster.start();
  await cluster.worker('worker-1', { MAX_CONCURRENT_EXECUTIONS: '4' });
  watcher = await cluster.backend();
});
afterAll(async () => {
  await watcher.close();
  await cluster.stop();
});
afterEach(async () => {
  await Promise.all(liars.map((liar) => liar.stop()));
  await until(() => honestOnly(), 'the liars are not heard any more');
  liars = [];
  await pungi.close();
});

const honestOnly = () => watcher.workers.every(({ worker }) => worker !== 'worker-2');

interface Lying {
  /** Its share of the offers. */
  subscriptions?: number;
  /** Whether it gets runs without an offer. */
  isOpen?: boolean;
  /** The configuration of the front end. */
  config?: GivenConfig;
}

/** Starts a liar beside the honest worker, and a front end that hears both. */
async function lie(
  tactic: Tactic,
  { subscriptions = 20, isOpen = false, config = {} }: Lying = {},
): Promise<LyingWorker> {
  const honest = await until(
    () => watcher.workers.find(({ worker }) => worker === 'worker-1'),
    'it is heard',
  );
  const connection = await cluster.connect('worker-2');
  const liar = new LyingWorker(connection, 'worker-2', honest, tactic, subscriptions, isOpen);
  liars.push(liar);
  await connection.flush();
  pungi = await cluster.front(2, config);
  return liar;
}

/** Runs so many at the same time, each of which has another result. */
async function runAll(count: number, more: object = {}): Promise<Outcome[]> {
  const codes = Array.from({ length: count }, (_, n) => `${n} * 2`);
  return Promise.all(codes.map((code) => pungi.run({ code, ...more })));
}

/** What is wrong with those runs: all that are not ok have been lost, and all that are ok have their own result. */
const mistakes = (outcomes: readonly Outcome[]) =>
  outcomes.filter(({ verdict, value }, n) => verdict.kind !== 'lost' && value?.json !== n * 2);

const lost = (outcomes: readonly Outcome[]) => outcomes.filter(({ verdict }) => verdict.kind === 'lost');

test('a worker that claims every run and never starts one: its runs are lost, later ones pass it by', async () => {
  await lie({ offer: (liar, offer) => liar.claim(offer) });
  // Only what finds no room elsewhere is offered.
  for (let broken = 0; broken < 3; ) {
    const outcomes = await runAll(20);
    expect(mistakes(outcomes)).toEqual([]);
    for (const { verdict } of lost(outcomes)) expect(verdict).toMatchObject({ started: null });
    broken += lost(outcomes).length;
  }
  expect(await runAll(20).then(lost)).toEqual([]);
});

test('a worker that claims every run and refuses to start it: no run is lost', async () => {
  const refusal = pack({ reason: 'no-claim', message: 'it does not know the claim' });
  await lie({
    offer: (liar, offer) => liar.claim(offer),
    go: (liar, go) => liar.frame(go, 'refused', 0, refusal),
  });
  const outcomes = await runAll(20);
  expect(mistakes(outcomes)).toEqual([]);
  expect(lost(outcomes)).toEqual([]);
});

test('a worker that is always free and refuses what it gets: no run is lost', async () => {
  let orders = 0;
  await lie(
    {
      offer: () => {},
      go: (liar, go) => {
        orders += 1;
        liar.frame(go, 'refused', 0, pack({ reason: 'unplaced', message: 'it is full' }));
      },
    },
    { subscriptions: 0, isOpen: true },
  );
  while (orders === 0) {
    const outcomes = await runAll(20);
    expect(mistakes(outcomes)).toEqual([]);
    expect(lost(outcomes)).toEqual([]);
  }
});

test('a worker that makes it look as if nobody got its orders, and is heard again at once: no run is lost', async () => {
  let orders = 0;
  await lie(
    {
      offer: (liar, offer) => liar.claim(offer),
      go: (liar, { front, token }) => {
        orders += 1;
        liar.sayNobody(front, token);
        liar.sendBeat(liar.key.incarnation);
      },
    },
    { subscriptions: 20, isOpen: true },
  );
  while (orders < 10) {
    const outcomes = await runAll(20);
    expect(mistakes(outcomes)).toEqual([]);
    expect(lost(outcomes)).toEqual([]);
  }
});

test('a worker that is always free and never starts a run: its runs are lost, later ones pass it by', async () => {
  await lie({ offer: () => {} }, { subscriptions: 0, isOpen: true });
  const first = await runAll(20);
  expect(mistakes(first)).toEqual([]);
  for (const { verdict } of lost(first)) expect(verdict).toMatchObject({ started: null });
  expect(lost(first).length).toBeGreaterThan(2);
  expect(await runAll(20).then(lost)).toEqual([]);
});

test('a worker that says of every offer that it has failed: runs take place elsewhere', async () => {
  const message = { kind: 'refused', reason: 'failed', code: 'DENIED', message: 'a lie' };
  await lie({
    offer: (liar, { front, token }) => liar.send(front, token, pack({ ...message, ...liar.key })),
  });
  const outcomes = await runAll(20);
  expect(mistakes(outcomes)).toEqual([]);
  expect(lost(outcomes)).toEqual([]);
});

test('claims in the name of an honest worker, or of one that does not exist, are not believed', async () => {
  const names = ['worker-1', 'worker-3', 'nobody'];
  let serial = 0;
  await lie({
    offer: (liar, offer) =>
      liar.claim(offer, { worker: names[serial++ % 3]!, incarnation: `made-up-${serial}` }),
  });
  // Only what finds no room elsewhere is offered.
  while (serial <= 20) {
    const outcomes = await runAll(20);
    expect(mistakes(outcomes)).toEqual([]);
    expect(lost(outcomes)).toEqual([]);
  }
});

test('frames with wrong numbers are not taken, and others are not disturbed', async () => {
  await lie(
    {
      offer: (liar, offer) => liar.claim(offer),
      go: (liar, go) => {
        liar.frame(go, 'stdout', 7, 'too early');
        liar.frame(go, 'end', 4_294_967_295, goodEnd());
        liar.frame(go, 'started', 0, '');
        liar.frame(go, 'started', 0, '');
        liar.frame(go, 'stdout', 5, 'a gap');
        liar.frame(go, 'stdout', 1, 'text');
        liar.frame(go, 'stdout', 1, 'twice');
        liar.frame(go, 'end', 2, goodEnd());
        liar.frame(go, 'stdout', 3, 'after the end');
        liar.frame(go, 'end', 4, goodEnd());
      },
    },
    { subscriptions: 1 },
  );
  const outcomes = await runAll(20);
  const texts = new Set(outcomes.map(({ stdout }) => stdout.text));
  expect(texts).toEqual(new Set(['', 'text']));
  expect(outcomes.every(({ verdict }) => verdict.kind === 'ok')).toBe(true);
});

test('a worker that says a run had started, and then that it had not: the run is not repeated', async () => {
  const refusal = pack({ reason: 'no-claim', message: 'a lie' });
  let orders = 0;
  await lie(
    {
      offer: (liar, offer) => liar.claim(offer),
      go: (liar, go) => {
        orders += 1;
        liar.frame(go, 'started', 0, '');
        liar.frame(go, 'refused', 1, refusal);
      },
    },
    { isOpen: true },
  );
  let outcome: Outcome | undefined;
  // The honest worker is as free.
  while (orders === 0) [outcome] = await runAll(1);
  expect(outcome!.verdict).toMatchObject({ kind: 'lost', started: true });
  expect(orders).toBe(1);
});

test('a worker that sends without end is cut off, and others go on meanwhile', async () => {
  const block = Buffer.alloc(900_000, 'x');
  const refusal = pack({ reason: 'no-claim', message: 'busy with its flood' });
  let flooded = '';
  async function flood(liar: LyingWorker, go: Go): Promise<void> {
    liar.frame(go, 'started', 0, '');
    for (let seq = 1; seq < 300; seq += 1) {
      liar.frame(go, 'display', seq, block, true);
      // No faster than it arrives: it lives in the same process as the front end.
      await liar.connection.flush();
    }
  }
  await lie(
    {
      offer: (liar, offer) => liar.claim(offer),
      go: (liar, go) => {
        if (flooded !== '' && flooded !== go.run) liar.frame(go, 'refused', 0, refusal);
        else if (flooded === '') {
          flooded = go.run;
          flood(liar, go).catch(() => {}); // the test has ended
        }
      },
    },
    { subscriptions: 2 },
  );
  const outcomes = await runAll(20);
  expect(mistakes(outcomes)).toEqual([]);
  // Only what it had claimed is lost.
  for (const { verdict } of lost(outcomes))
    expect(verdict).toMatchObject({
      message: expect.stringMatching(/^The run was lost on the worker worker-2/),
    });
  expect(lost(outcomes).length).toBeLessThan(outcomes.length);
});

test('a worker that does not answer what is asked of a session: whoever asked is answered', async () => {
  await lie(
    {
      offer: () => {},
      go: (liar, go) => {
        liar.frame(go, 'started', 0, '');
        liar.frame(go, 'end', 1, goodEnd(true));
      },
    },
    { subscriptions: 0, isOpen: true },
  );
  let id = '';
  const isLie = async () => {
    const { session, value } = await pungi.run({ code: '1', session: 'new' });
    id = session!.id;
    return value === null;
  };
  await until(isLie, 'it has a session');
  await expect(pungi.checkpoint(id)).rejects.toMatchObject({ code: 'SESSION_NOT_COPIED' });
}, 30_000);

test('answers to runs of others do not reach them without their token', async () => {
  const fronts = new Set<string>();
  const liar = await lie(
    {
      offer: (self, { front, token }) => {
        fronts.add(front);
        self.send(front, token, pack({ kind: 'refused', reason: 'full', message: 'full', ...self.key }));
      },
    },
    { subscriptions: 1 },
  );
  const flood = setInterval(() => {
    for (const front of fronts)
      for (const token of ['*', 'A'.repeat(22), '', '>'])
        if (token !== '') liar.send(front, token.replace(/[*>]/, 'x'), goodEnd());
  }, 1);
  const outcomes = await runAll(20);
  clearInterval(flood);
  expect(mistakes(outcomes)).toEqual([]);
  expect(lost(outcomes)).toEqual([]);
});

test('a worker with thousands of starts does not keep others from being heard', async () => {
  const liar = await lie(
    { offer: (self, offer) => self.claim(offer, { worker: 'x', incarnation: 'y' }) },
    { subscriptions: 1 },
  );
  // These leave at once.
  for (let made = 0; made < 15_000; made += 1)
    for (const state of ['ready', 'stopped'] as const) liar.sendBeat(`brief-${made}`, state);
  for (let made = 0; made < 15_000; made += 1) liar.sendBeat(`start-${made}`);
  await liar.connection.flush();
  await cluster.worker('worker-3');
  await until(() => watcher.workers.some(({ worker }) => worker === 'worker-3'), 'the new worker is heard');
  expect(watcher.workers.length).toBeLessThan(20);
  expect(await runAll(20).then(lost)).toEqual([]);
});

test('a worker with a thousand slots that answers nothing: other workers get runs meanwhile', async () => {
  const config = { maxConcurrentExecutions: 200, maxConcurrentPerClient: 200 };
  await lie({ offer: () => {} }, { subscriptions: 0, isOpen: true, config });
  const outcomes = Promise.all(
    Array.from({ length: 120 }, async (_, n) => {
      const { verdict } = await pungi.run({ code: `${n}` });
      return { kind: verdict.kind, at: performance.now() };
    }),
  );
  const ended = (await outcomes).sort((one, other) => one.at - other.at);
  const firstLost = ended.findIndex(({ kind }) => kind === 'lost');
  expect(ended.every(({ kind }) => kind === 'ok' || kind === 'lost')).toBe(true);
  expect(firstLost === -1 ? ended.length : firstLost).toBeGreaterThan(50);
}, 30_000);

test('a worker that claims every run and answers nothing: other workers get runs meanwhile', async () => {
  const most = { maxConcurrentExecutions: 200, maxConcurrentPerClient: 200 };
  await lie({ offer: (liar, offer) => liar.claim(offer) }, { config: most });
  const codes = Array.from({ length: 120 }, (_, n) => `import time; time.sleep(0.05); ${n}`);
  const outcomes = await Promise.all(codes.map((code) => pungi.run({ code })));
  // Sixteen at a time, until three of them are broken.
  expect(lost(outcomes).length).toBeLessThan(32);
  expect(outcomes.every(({ verdict: { kind } }) => kind === 'ok' || kind === 'lost')).toBe(true);
}, 30_000);
