import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager, type MsgRequest } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { Objm } from '@nats-io/obj';
import { type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import { silentLogger } from '../../core/src/base/logger.js';
import { sha256 } from '../../core/src/base/sha256.js';
import { signerOf } from '../src/credentials.js';
import { STORES, type Store, storeName } from '../src/protocol/stores.js';
import { WheelStore } from '../src/wheel-store.js';
import { SecureCluster } from './secure-cluster.js';

let cluster: SecureCluster;
beforeAll(async () => {
  cluster = await SecureCluster.start();
});
afterAll(() => cluster.stop());

/** What the NATS server has refused a connection. */
class Refusals {
  readonly seen: { operation: string; subject: string; queue: string | undefined }[] = [];

  constructor(readonly connection: NatsConnection) {
    void this.#collect();
  }

  async #collect(): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type !== 'error' || !(status.error instanceof PermissionViolationError)) continue;
      const { operation, subject, queue } = status.error;
      this.seen.push({ operation, subject, queue });
    }
  }

  async publish(subjects: readonly string[]): Promise<void> {
    for (const subject of subjects) this.connection.publish(subject, 'x');
    await this.connection.flush();
  }

  async subscribe(subjects: readonly (readonly [subject: string, queue?: string])[]): Promise<void> {
    for (const [subject, queue] of subjects) {
      const subscription = this.connection.subscribe(subject, queue === undefined ? {} : { queue });
      subscription.closed.catch(() => {});
    }
    await this.connection.flush();
  }

  subjectsOf(operation: 'publish' | 'subscription'): string[] {
    const own = this.seen.filter((one) => one.operation === operation);
    // Of those who only look, requests get this name before they are checked.
    return own.map(({ subject }) => subject.replace(/^look\./, ''));
  }
}

const refusalsOf = async (member: string) => new Refusals(await cluster.connect(member));

const ALL_STORES = Object.keys(STORES) as Store[];
const nameOf = (store: Store) => storeName('main', store);
const streamOf = (store: Store) =>
  ({ kv: 'KV_', objects: 'OBJ_', stream: '' })[STORES[store]] + nameOf(store);
const contentOf = (store: Store) =>
  ({
    kv: [`$KV.${nameOf(store)}.some-key`],
    objects: [`$O.${nameOf(store)}.C.some-part`, `$O.${nameOf(store)}.M.some-name`],
    stream: [`pungi.main.${store}.some-subject`],
  })[STORES[store]];
const requests = (store: Store, ...kinds: string[]) =>
  kinds.map((kind) => `$JS.API.${kind}.${streamOf(store)}`);

const DESTRUCTIVE = [
  'STREAM.DELETE',
  'STREAM.UPDATE',
  'STREAM.MSG.DELETE',
  'STREAM.SNAPSHOT',
  'STREAM.RESTORE',
];

const NO_WORKER_PUBLISHES = [
  'pungi.main.beat.worker-2',
  'pungi.main.front.somebody',
  'pungi.main.offer.any.any.any',
  'pungi.main.worker.worker-1.start.go',
  'pungi.main.worker.worker-2.start.go',
  'pungi.main.worker.worker-2.start.drain',
  'pungi.other.beat.worker-1',
  'pungi.other.reply.front.token',
  'pungi.main.trail.some-key',
  'pungi.main.entries.token',
  '_INBOX.front-1.answer',
  '_INBOX.worker-2.answer',
  '$SYS.REQ.SERVER.PING',
  '$JS.API.STREAM.NAMES',
  '$JS.API.STREAM.CREATE.another',
  ...ALL_STORES.flatMap((store) => [
    ...contentOf(store),
    ...requests(store, ...DESTRUCTIVE, 'STREAM.CREATE', 'STREAM.PURGE', 'CONSUMER.CREATE', 'DIRECT.GET'),
    `$JS.API.DIRECT.GET.${streamOf(store)}.${contentOf(store)[0]}`,
    `$JS.API.CONSUMER.CREATE.${streamOf(store)}.mine.filter`,
    `$JS.API.CONSUMER.DURABLE.CREATE.${streamOf(store)}.mine`,
    `$JS.API.CONSUMER.MSG.NEXT.${streamOf(store)}.mine`,
    `$JS.ACK.${streamOf(store)}.mine.1.1.1.1.1`,
  ]),
  ...ALL_STORES.filter((store) => !['environments', 'inputs', 'wheels'].includes(store)).flatMap((store) =>
    requests(store, 'STREAM.INFO', 'STREAM.MSG.GET'),
  ),
];

test('a worker publishes only its own heartbeats, notices and answers', async () => {
  const refusals = await refusalsOf('worker-1');
  await refusals.publish([
    'pungi.main.beat.worker-1',
    'pungi.main.free',
    'pungi.main.reply.front.token',
    ...NO_WORKER_PUBLISHES,
  ]);
  await until(() => refusals.seen.length >= NO_WORKER_PUBLISHES.length, 'the server has refused all of them');
  expect(refusals.subjectsOf('publish').sort()).toEqual([...NO_WORKER_PUBLISHES].sort());
});

test('a worker hears only its own orders, front ends, and offers within the group of all workers', async () => {
  const refusals = await refusalsOf('worker-1');
  const refused = [
    ['>'],
    ['pungi.>'],
    ['pungi.main.*.*'],
    ['pungi.main.offer.any.any.any'],
    ['pungi.main.offer.>'],
    ['pungi.main.offer.>', 'mine'],
    ['pungi.main.offer.any.any.any', 'mine'],
    ['pungi.main.worker.worker-2.*.*'],
    ['pungi.main.worker.>'],
    ['pungi.main.worker.*.*.go'],
    ['pungi.main.worker.*.*.go', 'workers'],
    ['pungi.main.reply.>'],
    ['pungi.main.reply.*.*', 'workers'],
    ['pungi.main.beat.*'],
    ['pungi.main.beat.worker-2'],
    ['pungi.main.free'],
    ['pungi.main.trail.*'],
    ['pungi.main.entries.*'],
    ['pungi.main.background.*'],
    ['pungi.main.background.>', 'workers'],
    ['_INBOX.>'],
    ['_INBOX.front-1.>'],
    ['$JS.>'],
    ['$KV.>'],
    ['$O.>'],
    ['$SYS.>'],
  ] as const;
  await refusals.subscribe([
    ['pungi.main.offer.any.any.any', 'workers'],
    ['pungi.main.front.*'],
    ['pungi.main.worker.worker-1.start.*'],
    ['_INBOX.worker-1.>'],
    ...refused,
  ]);
  await until(() => refusals.seen.length >= refused.length, 'the server has refused all of them');
  expect(refusals.seen.map(({ subject, queue }) => [subject, ...(queue ? [queue] : [])]).sort()).toEqual(
    refused.map((one) => [...one]).sort(),
  );
});

test.each([
  [
    'front-1',
    [
      'pungi.main.beat.worker-1',
      'pungi.main.reply.front.token',
      'pungi.main.worker.worker-1.start.drain',
      'pungi.main.trail.some-key',
      ...contentOf('profiles'),
      ...requests('profiles', 'STREAM.CREATE', 'STREAM.PURGE', 'DIRECT.GET', 'CONSUMER.CREATE'),
      ...contentOf('checkpoints'),
      ...requests('checkpoints', 'STREAM.PURGE', 'DIRECT.GET', 'CONSUMER.CREATE'),
      ...ALL_STORES.flatMap((store) => requests(store, ...DESTRUCTIVE)),
    ],
  ],
  [
    'operator',
    [
      'pungi.main.offer.any.any.any',
      'pungi.main.worker.worker-1.start.go',
      'pungi.main.worker.worker-1.start.cancel',
      'pungi.main.beat.worker-1',
      'pungi.main.entries.token',
      ...ALL_STORES.flatMap((store) => [...contentOf(store), ...requests(store, ...DESTRUCTIVE)]),
      // Code, callers and handles of background runs, and how they ended.
      ...(['background', 'outcomes', 'artifacts'] as const).flatMap((store) => [
        ...requests(store, 'STREAM.INFO', 'STREAM.MSG.GET', 'CONSUMER.CREATE', 'STREAM.PURGE'),
        `$JS.API.CONSUMER.MSG.NEXT.${streamOf(store)}.fronts`,
        `$JS.ACK.${streamOf(store)}.fronts.1.1.1.1.1`,
      ]),
    ],
  ],
  [
    'owner',
    [
      'pungi.main.offer.any.any.any',
      'pungi.main.worker.worker-1.start.go',
      'pungi.main.worker.worker-1.start.drain',
      ...ALL_STORES.filter((store) => store !== 'profiles').flatMap((store) => [
        ...contentOf(store),
        ...requests(store, 'STREAM.INFO', 'STREAM.CREATE', ...DESTRUCTIVE),
      ]),
    ],
  ],
])('%s cannot do the work of others', async (member, refused) => {
  const refusals = await refusalsOf(member);
  await refusals.publish(refused);
  await until(() => refusals.seen.length >= refused.length, 'the server has refused all of them');
  expect(refusals.subjectsOf('publish').sort()).toEqual([...refused].sort());
});

test('a front end publishes only its own checkpoints, and hears no requests for the trails of others', async () => {
  const own = signerOf(cluster.creds('front-1')).publicKey;
  const other = signerOf(cluster.creds('front-2')).publicKey;
  const refusals = await refusalsOf('front-1');
  await refusals.publish([`pungi.main.checkpoints.${own}`, `pungi.main.checkpoints.${other}`]);
  await refusals.subscribe([
    [`pungi.main.trail.${own}`],
    [`pungi.main.trail.${other}`],
    ['pungi.main.trail.*'],
    ['pungi.main.entries.*'],
  ]);
  await until(() => refusals.seen.length >= 4, 'the server has refused four');
  expect(refusals.subjectsOf('publish')).toEqual([`pungi.main.checkpoints.${other}`]);
  expect(refusals.subjectsOf('subscription').sort()).toEqual(
    ['pungi.main.entries.*', 'pungi.main.trail.*', `pungi.main.trail.${other}`].sort(),
  );
});

test('an operator does not see the answers to front ends', async () => {
  const refusals = await refusalsOf('operator');
  await refusals.subscribe([['pungi.main.reply.operator.*'], ['pungi.main.reply.*.*']]);
  await until(() => refusals.seen.length > 0, 'the server has refused one');
  expect(refusals.subjectsOf('subscription')).toEqual(['pungi.main.reply.*.*']);
});

test('front ends and the owner use their stores with the libraries of NATS', async () => {
  const front = await cluster.connect('front-1');
  for (const store of ['environments', 'leases', 'outcomes'] as const) {
    const bucket = await new Kvm(front).create(nameOf(store));
    const revision = await bucket.create('key', 'first');
    await bucket.update('key', 'second', revision);
    expect((await bucket.get('key'))?.string()).toBe('second');
    const watch = await bucket.watch();
    for await (const entry of watch) {
      expect(entry.string()).toBe('second');
      break;
    }
    await bucket.delete('key');
  }
  for (const store of ['inputs', 'artifacts'] as const) {
    const objects = await new Objm(front).create(nameOf(store));
    await objects.putBlob({ name: 'input' }, new Uint8Array(300_000));
    expect((await objects.getBlob('input'))?.length).toBe(300_000);
    await objects.delete('input');
  }

  const owner = await cluster.connect('owner');
  await (await new Kvm(owner).create(nameOf('profiles'))).put('reports', 'signed');
  expect(
    (await (await new Kvm(front).open(nameOf('profiles'), { allow_direct: false })).get('reports'))?.string(),
  ).toBe('signed');

  const manager = await jetstreamManager(front);
  for (const store of ['background', 'checkpoints'] as const)
    await manager.streams.add({ name: nameOf(store), subjects: [`pungi.main.${store}.>`] });
  const jetstream = manager.jetstream();
  await jetstream.publish('pungi.main.background.one', 'job');
  await manager.consumers.add(nameOf('background'), { durable_name: 'fronts', ack_policy: 'explicit' });
  const message = await (await jetstream.consumers.get(nameOf('background'), 'fronts')).next();
  expect(await message?.ackAck()).toBe(true);
});

test('a front end stores wheels, the oldest make room, and a worker reads them', async () => {
  const folder = temporaryFolder();
  const wheelOf = (name: string) => {
    const content = randomBytes(700_000);
    writeFileSync(join(folder, name), content);
    return { path: join(folder, name), name, bytes: content.length, sha256: sha256(content) };
  };
  const [one, other] = [wheelOf('one-1.0-py3-none-any.whl'), wheelOf('other-1.0-py3-none-any.whl')];
  const front = new WheelStore(await cluster.connect('front-1'), 'main');
  const worker = new WheelStore(await cluster.connect('worker-1'), 'main');
  const fetch = async () => {
    const target = temporaryFolder();
    const count = await worker.fetch(new Set([one.sha256, other.sha256]), target, 10_000_000, silentLogger);
    return { count, names: readdirSync(target) };
  };
  expect(await fetch()).toEqual({ count: 0, names: [] });
  expect(await front.push([one], 1_000_000)).toEqual({ removed: 0 });
  expect(await fetch()).toEqual({ count: 1, names: [one.name] });
  expect(await front.push([other], 1_000_000)).toEqual({ removed: 1 });
  expect(await fetch()).toEqual({ count: 1, names: [other.name] });
});

test('a worker looks into what front ends have stored, and cannot have it published in the name of another', async () => {
  await cluster.worker('worker-2');
  const backend = await cluster.backend();
  const [beat] = await until(() => (backend.workers.length > 0 ? backend.workers : undefined), 'it is heard');
  const front = await cluster.connect('front-1');
  const objects = await new Objm(front).create(nameOf('inputs'));
  // A client can choose the content of an input.
  const forged = { ...beat!, worker: 'worker-2', incarnation: 'forged' };
  await objects.putBlob({ name: 'forged' }, Buffer.from(JSON.stringify(forged)));

  const worker = await cluster.connect('worker-1');
  const manager = await jetstreamManager(worker, { checkAPI: false });
  const stream = streamOf('inputs');
  const anyPart = { seq: 1, next_by_subj: `$O.${nameOf('inputs')}.C.>` } as MsgRequest;
  const part = await manager.streams.getMessage(stream, anyPart);
  expect(JSON.parse(part!.string())).toMatchObject(forged);
  const { seq } = part!;

  const heard: string[] = [];
  const listening = front.subscribe('pungi.main.beat.worker-2', {
    callback: (_, message) => void heard.push(message.string()),
  });
  await front.flush();
  const reply = 'pungi.main.beat.worker-2';
  worker.publish(`$JS.API.STREAM.MSG.GET.${stream}`, JSON.stringify({ seq }), { reply });
  worker.publish(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify({ seq }), { reply });
  // The server answers in turn.
  await manager.streams.getMessage(stream, { seq });
  const before = heard.length;
  await until(() => heard.length > before, 'the next heartbeat of the worker itself arrives');
  listening.unsubscribe();
  expect(heard.filter((text) => /stream_msg_get_response|forged/.test(text))).toEqual([]);
  expect(backend.workers.map(({ incarnation }) => incarnation)).toEqual([beat!.incarnation]);
  await backend.close();
});

/** The server answers a request on any subject that it names. */
test.each([
  ['worker-1', 'environments'],
  ['operator', 'environments'],
  ['operator', 'checkpoints'],
] as const)('answers to %s, who looks at %s, are not stored anywhere', async (member, looked) => {
  const front = await cluster.connect('front-1');
  const owner = await cluster.connect('owner');
  await new Kvm(owner).create(nameOf('profiles'));
  const { streams } = await jetstreamManager(front, { checkAPI: false });
  const environments = await new Kvm(front).create(nameOf('environments'), { allow_direct: false });
  for (const store of ['background', 'checkpoints'] as const)
    await streams
      .info(streamOf(store))
      .catch(() => streams.add({ name: streamOf(store), subjects: [`pungi.main.${store}.*`] }));
  await environments.put('env.whole', 'untouched');
  const stored = async () =>
    Promise.all(
      ALL_STORES.map(
        async (store) => (await streams.info(streamOf(store)).catch(() => undefined))?.state.last_seq,
      ),
    );
  const before = await stored();
  const own = await cluster.connect(member);
  const replies = [
    `$KV.${nameOf('environments')}.env.whole`,
    `$KV.${nameOf('profiles')}.set`,
    'pungi.main.background.somebody',
    'pungi.main.checkpoints.somebody',
  ];
  for (const reply of replies) own.publish(`$JS.API.STREAM.INFO.${streamOf(looked)}`, '', { reply });
  // An answer that arrives shows that those before were sent.
  const { streams: looking } = await jetstreamManager(own, { checkAPI: false });
  await looking.info(streamOf(looked));
  expect((await environments.get('env.whole'))?.string()).toBe('untouched');
  expect(await stored()).toEqual(before);
});
