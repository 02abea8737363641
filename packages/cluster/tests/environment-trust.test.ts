import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { callerOf } from '../../core/src/contract/caller.js';
import type { EnvironmentEvent } from '../../core/src/contract/environment.js';
import { GenerationGone } from '../../core/src/runtime/fork-server.js';
import { makeKeyPair } from '../src/credentials.js';
import { bucketOf, type Entry, keyOfEnvironment } from '../src/protocol/environments.js';
import { Signer } from '../src/protocol/signing.js';
import { subjectsOf } from '../src/protocol/subjects.js';
import { EntryReader } from '../src/worker/entry-reader.js';
import { environmentCluster, eventsOf, VERSION } from './environment-cluster.js';
import { LyingWorker } from './lying-worker.js';

const world = environmentCluster();
const subjects = subjectsOf('main');

let enemy: NatsConnection;
beforeEach(async () => {
  enemy = await connect({ servers: world.cluster.nats.url });
});
afterEach(() => enemy.close());

test('a change that no front end has signed is not made, and gets no answer', async () => {
  const worker = await world.cluster.worker();
  const answers: string[] = [];
  enemy.subscribe(subjects.replies('enemy'), { callback: (_, { data }) => void answers.push(`${data}`) });
  const other = makeKeyPair();
  const request = {
    v: 1,
    front: 'enemy',
    token: 'token',
    operation: { kind: 'create', venvName: 'evil', packages: ['apple'] },
  };
  const content = Buffer.from(JSON.stringify(request));
  const before = world.index.requests.length;
  enemy.publish(subjects.change, content);
  enemy.publish(subjects.change, new Signer(other.seed, other.publicKey).sign(subjects.change, content));
  // Signed by a front end, but for another subject.
  const { seed, publicKey } = world.cluster.signing;
  enemy.publish(subjects.change, new Signer(seed, publicKey).sign(subjects.fronts, content));
  await enemy.flush();
  await worker.running.shows('stderr', 'A request was refused');
  const pungi = await world.front();
  await pungi.environments.create({ venvName: 'ml' });
  expect(world.index.requests.slice(before)).toEqual([]);
  expect(answers).toEqual([]);
});

test('a lock that somebody has put into the bucket is not built: a signed offer names its hash', async () => {
  const first = await world.cluster.worker();
  const pungi = await world.front();
  await pungi.environments.create({ venvName: 'ml', packages: ['apple==1.0'] });
  await pungi.environments.create({ venvName: 'other', packages: ['apple==2.0'] });
  first.signal('SIGTERM');
  await first.running.ended;
  const bucket = await new Kvm(jetstream(enemy)).open(bucketOf('main'));
  const [one, other] = await Promise.all(
    ['ml', 'other'].map(async (name) => (await bucket.get(keyOfEnvironment(name)))!.json<Entry>()),
  );
  await bucket.put(keyOfEnvironment('ml'), JSON.stringify({ ...one, lock: other!.lock }));
  const second = await world.cluster.worker();
  const { verdict } = await pungi.run({ code: VERSION, venvName: 'ml' });
  expect(verdict.kind).toBe('no-environment');
  expect(eventsOf(second, 'built')).toEqual([]);
  const { name, generation } = one!.metadata;
  await expect(new EntryReader(enemy, 'main').read({ name, generation })).rejects.toThrow(GenerationGone);
  await bucket.put(keyOfEnvironment('ml'), 'garbage');
  await bucket.put(keyOfEnvironment('other'), JSON.stringify(one));
  expect((await pungi.run({ code: '1' })).verdict).toEqual({ kind: 'ok' });
  await until(async () => (await pungi.environments.list()).length === 1, 'what cannot be read is left out');
});

test('a worker that does not say whether it uses an environment: whoever deletes it learns that, and may give up before', async () => {
  await world.cluster.worker();
  const pungi = await world.front();
  await pungi.environments.create({ venvName: 'ml', packages: ['apple==1.0'] });
  const watcher = await world.cluster.backend();
  const honest = await until(() => watcher.workers[0], 'the worker is heard');
  const silent = new LyingWorker(enemy, 'silent', honest, { offer: () => {} }, 0);
  await until(() => watcher.workers.length === 2, 'the silent one is heard');
  const stop = new AbortController();
  const request = { venvName: 'ml', confirm: true };
  const givenUp = pungi.environments.delete({ ...request, wait: true }, { signal: stop.signal });
  stop.abort(new Error('not now'));
  await expect(givenUp).rejects.toThrow();
  await expect(pungi.environments.delete(request)).rejects.toMatchObject({
    code: 'SERVER_BUSY',
    message: expect.stringContaining('the worker silent does not answer'),
  });
  await silent.stop();
  await until(() => watcher.workers.length === 1, 'it has left');
  await pungi.environments.delete(request);
  await watcher.close();
}, 30_000);

test('changes are recorded by the front end whose caller asked for them, with the lock that they lead to', async () => {
  await world.cluster.worker();
  const backend = await world.cluster.backend();
  const told: EnvironmentEvent[] = [];
  const environments = backend.environmentsWith({
    defaultName: 'default',
    packageTimeoutMs: 60_000,
    packageSources: [],
    maxEnvironments: 10,
    maxEnvironmentMb: 1000,
    onEvent: async (event) => void told.push(event),
  });
  const caller = callerOf({ client: 'anna' });
  const lock = {
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    text: expect.stringContaining('apple==1.0'),
  };
  const about = { caller, environment: 'ml', lock };
  try {
    await environments.create({ venvName: 'ml', packages: ['apple==1.0'] }, { caller });
    await environments.install('ml', ['no-such-package'], { caller }).catch(() => {});
    await environments.install('nowhere', ['apple'], { caller }).catch(() => {});
    await environments.install('ml', ['scripted'], { caller });
    await environments.delete({ venvName: 'ml', confirm: true }, { caller });
    expect(told).toMatchObject([
      { ...about, action: 'create', details: { requested: ['apple==1.0'] } },
      { ...about, action: 'install', error: 'PACKAGE_INSTALLATION_ERROR', lock: null },
      { environment: 'nowhere', action: 'install', error: 'ENVIRONMENT_NOT_FOUND', lock: null },
      { ...about, action: 'install', error: null, added: [{ name: 'scripted' }] },
      { ...about, action: 'delete' },
    ]);
  } finally {
    await backend.close();
  }
});
