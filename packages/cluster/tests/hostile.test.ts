import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { callerOf, ownerOf } from '../../core/src/contract/caller.js';
import type { Pungi } from '../../core/src/pungi.js';
import { makeKeyPair } from '../src/credentials.js';
import { keyOfRun } from '../src/protocol/background.js';
import { readFrames } from '../src/protocol/frames.js';
import { Signer } from '../src/protocol/signing.js';
import { ORDERS, type OrderKind, subjectsOf } from '../src/protocol/subjects.js';
import { PROTOCOL } from '../src/protocol/version.js';
import { SealedReader } from '../src/sealing.js';
import { TestCluster, type TestWorker } from './cluster.js';

const subjects = subjectsOf('main');

let cluster: TestCluster;
let worker: TestWorker;
let pungi: Pungi;
/** Somebody who is connected, sees everything, and may publish everywhere. */
let enemy: NatsConnection;
const seen: { subject: string; data: Uint8Array; reply: string | undefined }[] = [];

beforeAll(async () => {
  cluster = await TestCluster.start();
  enemy = await connect({ servers: cluster.nats.url });
  enemy.subscribe('pungi.>', {
    callback: (_, { subject, data, reply }) => void seen.push({ subject, data, reply }),
  });
  await enemy.flush();
  worker = await cluster.worker([], { LOG_LEVEL: 'info' });
  pungi = await cluster.front();
});
afterAll(async () => {
  await enemy.close();
  await cluster.stop();
});

const starts = () => worker.trail.filter(({ event }) => event === 'started').length;
const works = async () => (await pungi.run({ code: '6 * 7' })).value?.json === 42;
const sightings = (pattern: RegExp) => seen.filter(({ subject }) => pattern.test(subject));

/** The part of a subject that names the worker's start. */
const incarnation = () => {
  const beat = sightings(/\.beat\./).at(-1)!;
  return JSON.parse(Buffer.from(beat.data).toString()).incarnation as string;
};
const order = (kind: OrderKind) => subjects.order({ worker: 'w1', incarnation: incarnation() }, kind);

/** Resolves to whether anybody answers on the subject before the worker has answered something that follows. */
async function answersTo(subject: string, payload: Uint8Array, token: string): Promise<boolean> {
  const answered: string[] = [];
  const listening = enemy.subscribe(`pungi.main.reply.*.${token}`, {
    callback: (_, { data }) => void answered.push(Buffer.from(data).toString()),
  });
  enemy.publish(subject, payload);
  await enemy.flush();
  expect(await works()).toBe(true);
  listening.unsubscribe();
  return answered.length > 0;
}

const ANY_OFFER = subjects.offer({ generation: 'any', arch: 'any', need: 'any' });
const offer = (token: string) =>
  Buffer.from(
    JSON.stringify({ v: PROTOCOL, front: 'enemy', token, poolSpec: { preload: [], allowedHosts: [] } }),
  );

test('an offer that nobody signed is not taken', async () => {
  expect(await answersTo(ANY_OFFER, offer('unsigned'), 'unsigned')).toBe(false);
});

test('an offer that is signed with a key of no front end is not taken', async () => {
  const { seed, publicKey } = makeKeyPair();
  const signed = new Signer(seed, publicKey).sign(ANY_OFFER, offer('stranger'));
  expect(await answersTo(ANY_OFFER, signed, 'stranger')).toBe(false);
  // Under the name of a front end.
  const claimed = new Signer(seed, cluster.signing.publicKey).sign(ANY_OFFER, offer('claimed'));
  expect(await answersTo(ANY_OFFER, claimed, 'claimed')).toBe(false);
});

test('an offer that is signed for another subject is not taken', async () => {
  const { seed, publicKey } = cluster.signing;
  const elsewhere = subjects.offer({ generation: 'any', arch: process.arch, need: 'any' });
  const signed = new Signer(seed, publicKey).sign(elsewhere, offer('elsewhere'));
  expect(await answersTo(ANY_OFFER, signed, 'elsewhere')).toBe(false);
  // The same is taken where it belongs.
  expect(await answersTo(elsewhere, signed, 'elsewhere')).toBe(true);
});

test('an offer of another version is refused with a sentence that names both', async () => {
  const { seed, publicKey } = cluster.signing;
  const content = Buffer.from(JSON.stringify({ v: PROTOCOL + 2, front: 'enemy', token: 'newer' }));
  const before = seen.length;
  expect(await answersTo(ANY_OFFER, new Signer(seed, publicKey).sign(ANY_OFFER, content), 'newer')).toBe(
    true,
  );
  const answer = seen.slice(before).find(({ subject }) => subject.endsWith('.newer'));
  expect(JSON.parse(Buffer.from(answer!.data).toString())).toMatchObject({
    kind: 'refused',
    reason: 'version',
    message: `This worker speaks version ${PROTOCOL} of the cluster protocol, and the front end version ${PROTOCOL + 2}: update one of them.`,
  });
});

test('an offer of one version later is taken, and a heartbeat of it is heard', async () => {
  const { seed, publicKey } = cluster.signing;
  const content = Buffer.from(JSON.stringify({ v: PROTOCOL + 1, front: 'enemy', token: 'next' }));
  const before = seen.length;
  await answersTo(ANY_OFFER, new Signer(seed, publicKey).sign(ANY_OFFER, content), 'next');
  const answers = () =>
    seen
      .slice(before)
      .filter(({ subject }) => subject.endsWith('.next'))
      .map(({ data }) => JSON.parse(Buffer.from(data).toString()).kind);
  await until(() => answers().includes('claim'), 'the worker claims it');
  const backend = await cluster.backend();
  const [beat] = await until(
    () => (backend.workers.length > 0 ? backend.workers : undefined),
    'the worker is heard',
  );
  const later = {
    ...beat,
    v: PROTOCOL + 1,
    worker: 'later',
    incarnation: 'later',
    isOpen: false,
    isNew: true,
  };
  enemy.publish(subjects.beat('later'), Buffer.from(JSON.stringify(later)));
  await until(() => backend.workers.some(({ worker }) => worker === 'later'), 'the later one is heard');
  await backend.close();
});

test('everything that was ever sent, sent again, runs nothing', async () => {
  expect(await works()).toBe(true);
  const before = starts();
  const recorded = seen.filter(({ subject }) => /\.(offer|worker|front)\./.test(subject));
  expect(recorded.some(({ subject }) => subject.endsWith('.go'))).toBe(true);
  for (const { subject, data, reply } of recorded)
    enemy.publish(subject, data, reply === undefined ? {} : { reply });
  await enemy.flush();
  expect(await works()).toBe(true);
  expect(starts()).toBe(before + 1);
});

test('what was sent to a session, sent again during and between its runs, is not run again', async () => {
  const resend = async () => {
    for (const { subject, data } of sightings(/\.(go|copy)$/)) enemy.publish(subject, data);
    await enemy.flush();
  };
  const { session } = await pungi.run({ code: 'count = 0', session: 'new' });
  for (const expected of [1, 2, 3]) {
    const code = 'count += 1\nprint("begun", flush=True)\nimport time; time.sleep(0.1)\ncount';
    const replayed: Promise<void>[] = [];
    const { value } = await pungi.run(
      { code, session: session!.id },
      { onLine: () => replayed.push(resend()) },
    );
    expect(value?.json).toBe(expected);
    await Promise.all(replayed);
    await resend();
  }
  pungi.endSession(session!.id);
});

test('an order for a claim that was used, with another number, runs nothing', async () => {
  const { data } = sightings(/\.go$/).at(-1)!;
  const sent = JSON.parse(Buffer.from(data).subarray(120).toString());
  const { seed, publicKey } = cluster.signing;
  const content = Buffer.from(JSON.stringify({ ...sent, n: sent.n + 1, token: 'again', run: 'again' }));
  enemy.publish(order('go'), new Signer(seed, publicKey).sign(order('go'), content));
  await enemy.flush();
  expect(await works()).toBe(true);
  expect(worker.trail.filter(({ run }) => run === 'again')).toEqual([]);
});

test('an order without an offer is followed once, while the heartbeat that it names is young', async () => {
  const { data } = sightings(/\.go$/).at(-1)!;
  const sent = JSON.parse(Buffer.from(data).subarray(120).toString());
  const { seed, publicKey } = cluster.signing;
  const answers = () => sightings(/\.reply\.[^.]*\.placed-/);
  const placed = (id: string, beat: number) => {
    const ids = { token: `placed-${id}`, run: `placed-${id}`, claim: `placed-${id}` };
    const content = Buffer.from(JSON.stringify({ ...sent, ...ids, n: 1, placing: { beat } }));
    return new Signer(seed, publicKey).sign(order('go'), content);
  };
  const beats = () => sightings(/\.beat\.w1$/).map(({ data }) => JSON.parse(Buffer.from(data).toString()).n);
  const first = beats().at(-1) as number;
  await until(() => beats().at(-1) >= first + 3, 'the heartbeat is more than a second old');
  const good = placed('good', beats().at(-1));
  for (const message of [placed('old', first), placed('unknown', first + 1000), good, good])
    enemy.publish(order('go'), message);
  const startsOf = (id: string) => worker.trail.filter(({ run }) => run === `placed-${id}`).length;
  await until(() => startsOf('good') > 0 && answers().length >= 3, 'all are answered');
  enemy.publish(order('go'), good);
  expect(await works()).toBe(true);
  expect(['good', 'old', 'unknown'].map(startsOf)).toEqual([2, 0, 0]); // its start and its end
  for (const { subject, data } of answers().filter(({ subject }) => !subject.endsWith('good'))) {
    const [refused] = readFrames(Buffer.from(data));
    expect([subject, JSON.parse(refused!.payload.toString()).reason]).toEqual([subject, 'unplaced']);
  }
});

test('a front end that waits for the run of a claim that has ended learns it', async () => {
  const { data } = sightings(/\.go$/).at(-1)!;
  const { front, claim, n } = JSON.parse(Buffer.from(data).subarray(120).toString());
  const { seed, publicKey } = cluster.signing;
  const content = Buffer.from(JSON.stringify({ front, received: [{ claim, n, next: 7, token: 'waits' }] }));
  const before = seen.length;
  const signed = new Signer(seed, publicKey).sign(order('ack'), content);
  const answer = await until(() => {
    enemy.publish(order('ack'), signed);
    return seen.slice(before).find(({ subject }) => subject.endsWith('.waits'));
  }, 'the worker answers');
  const [frame] = readFrames(Buffer.from(answer.data));
  expect(frame).toMatchObject({ kind: 'refused', seq: 7 });
  expect(JSON.parse(frame!.payload.toString())).toMatchObject({ reason: 'used' });
});

test('garbage on every subject is survived, by workers and front ends', async () => {
  const { seed, publicKey } = cluster.signing;
  const signer = new Signer(seed, publicKey);
  const front = sightings(/\.front\./).at(-1)!.subject;
  const replies = sightings(/\.reply\./).at(-1)!.subject;
  const targets = [
    ANY_OFFER,
    ...ORDERS.map(order),
    order('go').replace(/go$/, 'unknown'),
    front,
    replies,
    subjects.beat('w1'),
    subjects.beat('made-up'),
    subjects.free,
    subjects.trail(cluster.signing.publicKey),
  ];
  const garbage = [
    '',
    '{',
    '{}',
    'null',
    '[]',
    '"text"',
    '{"v":1e999}',
    `{"v":1,"front":"${'x'.repeat(5000)}"}`,
    '['.repeat(100_000),
    '\0'.repeat(1000),
  ].map((text) => Buffer.from(text));
  const bytes = [
    Buffer.alloc(200, 255),
    Buffer.from('S\0\0\0\0\0'),
    Buffer.from('E\xff\xff\xff\xff\x01x', 'latin1'),
  ];
  for (const subject of targets)
    for (const payload of [...garbage, ...bytes])
      for (const one of [payload, signer.sign(subject, payload)]) enemy.publish(subject, one);
  await enemy.flush();
  expect(await works()).toBe(true);
  expect(worker.running.child.exitCode).toBe(null);
  await worker.running.shows('stderr', 'A request was refused');
});

test('a request for the audit trail is answered only to operators, and only they can read it', async () => {
  const subject = subjects.trail(cluster.signing.publicKey);
  const reader = new SealedReader();
  const request = (token: string) =>
    Buffer.from(JSON.stringify({ v: PROTOCOL, token, key: reader.key, from: { seq: 0, offset: 0 } }));
  const stranger = makeKeyPair();
  const signers = { stranger, front: cluster.signing, operator: cluster.operator };
  enemy.publish(subject, request('unsigned'));
  for (const [token, { seed, publicKey }] of Object.entries(signers))
    enemy.publish(subject, new Signer(seed, publicKey).sign(subject, request(token)));
  const [answer] = await until(() => {
    const found = sightings(/\.entries\./);
    return found.length > 0 ? found : undefined;
  }, 'the front end answers');
  expect(await works()).toBe(true);
  expect(sightings(/\.entries\./)).toEqual([answer]);
  expect(answer!.subject).toBe(subjects.entries('operator'));
  const sealed = Buffer.from(answer!.data);
  expect(JSON.parse(reader.open(sealed)!.toString())).toMatchObject({ kind: 'failed' });
  expect(new SealedReader().open(sealed)).toBeUndefined();
  expect(sealed.includes('failed')).toBe(false);
});

test('answers to a run that somebody makes up do not reach it', async () => {
  let lines = 0;
  const outcome = pungi.run(
    { code: 'import time\nfor n in range(20): print(n, flush=True); time.sleep(0.01)' },
    {
      onLine: () => {
        lines += 1;
        const token = 'A'.repeat(22);
        const [, , , front] = sightings(/\.reply\./)
          .at(-1)!
          .subject.split('.');
        enemy.publish(subjects.reply(front!, token), Buffer.from('o\0\0\0\x01\0forged'));
      },
    },
  );
  expect((await outcome).stdout.text).not.toContain('forged');
  expect(lines).toBe(20);
});

test('a heartbeat with the name of another worker is not heard', async () => {
  const backend = await cluster.backend();
  await until(() => backend.workers.length === 1, 'the worker is heard');
  const [beat] = backend.workers;
  enemy.publish(subjects.beat('evil'), Buffer.from(JSON.stringify({ ...beat, incarnation: 'other' })));
  enemy.publish(
    subjects.beat('evil'),
    Buffer.from(JSON.stringify({ ...beat, worker: 'evil', v: PROTOCOL + 5 })),
  );
  await enemy.flush();
  expect(await works()).toBe(true);
  expect(backend.workers).toHaveLength(1);
  await backend.close();
});

const HANDLE = `run-${'x'.repeat(22)}`;
const queueOf = (run: string) => `pungi.main.background.${run}`;
const owner = { client: 'somebody' };

/** Resolves when a run that was accepted after everything before has ended: front ends take them in order. */
async function isQueueTaken(): Promise<void> {
  const { run } = await pungi.runInBackground({ code: '6 * 7' }, { caller: owner });
  await until(async () => (await pungi.getRun(run, { caller: owner })).outcome, 'a later run has ended');
}

/** Somebody who can write every store makes it look as if a front end had accepted the run. */
async function pretend(run: string): Promise<string> {
  const state = { run, acceptedAt: 'now', phase: 'queued', front: 'front', attempts: 0 };
  const key = keyOfRun(ownerOf(callerOf(owner)), run);
  await (await new Kvm(enemy).open('pungi-main-outcomes')).put(key, JSON.stringify(state));
  return JSON.stringify({
    ...{ v: PROTOCOL, run, acceptedAt: 'now', caller: callerOf(owner), retry: true },
    request: JSON.stringify({ code: 'print("forged")' }),
  });
}

test('a background run that no front end has signed for the queue is not run', async () => {
  const queued = await pretend(HANDLE);
  const publish = (payload: Uint8Array | string) => jetstream(enemy).publish(queueOf(HANDLE), payload);
  const before = starts();
  await publish(queued);
  const { seed, publicKey } = makeKeyPair();
  await publish(new Signer(seed, publicKey).sign(queueOf(HANDLE), Buffer.from(queued)));
  // By a front end, for another subject.
  const front = new Signer(cluster.signing.seed, cluster.signing.publicKey);
  await publish(front.sign(queueOf(HANDLE.replace('x', 'y')), Buffer.from(queued)));
  await isQueueTaken();
  expect(starts()).toBe(before + 1);
  expect(await pungi.getRun(HANDLE, { caller: owner })).toMatchObject({ state: 'waiting' });
});

test('a background run that was seen in the queue and has ended is not run again', async () => {
  const { run } = await pungi.runInBackground({ code: 'print("once")', retry: true }, { caller: owner });
  await until(async () => (await pungi.getRun(run, { caller: owner })).outcome, 'it has ended');
  const before = starts();
  const message = sightings(/\.background\./).find(({ subject }) => subject === queueOf(run))!;
  await jetstream(enemy).publish(queueOf(run), message.data);
  await isQueueTaken();
  expect(starts()).toBe(before + 1);
});
