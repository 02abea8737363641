import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Objm } from '@nats-io/obj';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lastingFolder } from '../../../tests/support/places.js';
import { pungi as command } from '../../cli/tests/pungi.js';
import { sha256 } from '../../core/src/base/sha256.js';
import type { Pungi } from '../../core/src/pungi.js';
import { storeName } from '../src/protocol/stores.js';
import { environmentCluster, eventsOf, VERSION } from './environment-cluster.js';

const world = environmentCluster();
const BUCKET = storeName('main', 'wheels');

const DEAD = 'http://127.0.0.1:9/simple';
const WITHOUT_INDEX = { UV_DEFAULT_INDEX: DEAD, UV_INDEX_URL: DEAD, PIP_INDEX_URL: DEAD };

let folder: string;
let connection: NatsConnection;
beforeEach(async () => {
  folder = lastingFolder();
  mkdirSync(join(folder, 'wheels'));
  connection = await connect({ servers: world.cluster.nats.url });
});
afterEach(async () => {
  await connection.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The file of the index, as pip download gets it. */
async function download(version: string): Promise<Buffer> {
  const page = await (await fetch(`${world.index.url}/apple/`)).text();
  const [, address] = new RegExp(`href="([^"#]+apple-${version}-[^"#]+\\.whl)`).exec(page)!;
  const file = await fetch(new URL(address!, `${world.index.url}/apple/`));
  return Buffer.from(await file.arrayBuffer());
}

const fileOf = (version: string) => `apple-${version}-py3-none-any.whl`;

/** Makes an environment with a worker that reaches the index, and ends the worker. Writes lock and wheel. */
async function environmentWith(pungi: Pungi, version: string): Promise<void> {
  const first = await world.cluster.worker();
  await pungi.environments.create({ venvName: 'ml', packages: [`apple==${version}`] });
  writeFileSync(join(folder, 'ml.lock'), await pungi.environments.export('ml'));
  writeFileSync(join(folder, 'wheels', fileOf(version)), await download(version));
  first.signal('SIGTERM');
  await first.running.ended;
}

const push = (...more: string[]) =>
  command([
    ...['cluster', 'wheels', join(folder, 'ml.lock'), join(folder, 'wheels')],
    ...['--cluster', world.cluster.nats.url, '--creds', world.cluster.frontCreds, ...more],
  ]);

const stored = async () => {
  const all = await (await new Objm(connection).open(BUCKET)).list();
  return all.map(({ description }) => description).sort();
};

test('a worker that reaches no index builds what a run needs from the wheels of the cluster', async () => {
  const pungi = await world.front();
  await environmentWith(pungi, '1.0');
  const { status, stdout } = await push();
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'Stored 1 wheel.\n' });
  const helpless = await world.cluster.worker([], WITHOUT_INDEX);
  const outcome = await pungi.run({ code: VERSION, venvName: 'ml' });
  expect(outcome).toMatchObject({ verdict: { kind: 'ok' }, value: { json: '1.0' } });
  expect(eventsOf(helpless, 'built')).toHaveLength(1);
  // A lock from elsewhere becomes an environment, too.
  const lock = await pungi.environments.export('ml');
  await pungi.environments.delete({ venvName: 'ml', confirm: true });
  await pungi.environments.import({ venvName: 'again', lock });
  expect((await pungi.run({ code: VERSION, venvName: 'again' })).value?.json).toBe('1.0');
});

test('a wheel whose content is not that of its hash is not installed', async () => {
  const pungi = await world.front();
  await environmentWith(pungi, '1.0');
  await push();
  const name = sha256(await download('1.0'));
  const bucket = await new Objm(connection).open(BUCKET);
  await bucket.putBlob({ name, description: fileOf('1.0') }, await download('2.0'));
  const helpless = await world.cluster.worker([], WITHOUT_INDEX);
  const run = pungi.run({ code: VERSION, venvName: 'ml' });
  await helpless.running.shows('stderr', 'A wheel of the cluster is not what its name says');
  expect((await run).verdict).toMatchObject({ kind: 'no-environment', code: 'PACKAGE_INSTALLATION_ERROR' });
  // A name that leads to another folder is none of a wheel.
  await bucket.putBlob({ name, description: '../evil.whl' }, await download('1.0'));
  const other = await world.cluster.worker([], WITHOUT_INDEX);
  expect((await pungi.run({ code: VERSION, venvName: 'ml' })).verdict.kind).toBe('no-environment');
  expect(eventsOf(other, 'built')).toEqual([]);
});

test('only what the lock names is stored, the oldest makes room, and too much is refused', async () => {
  const pungi = await world.front();
  await environmentWith(pungi, '1.0');
  const filled = join(folder, 'wheels', 'filler-1.0-py3-none-any.whl');
  writeFileSync(filled, Buffer.alloc(900_000, 1));
  expect((await push()).stdout).toBe('Stored 1 wheel. The lock does not name filler-1.0-py3-none-any.whl.\n');
  expect(await stored()).toEqual([fileOf('1.0')]);
  const bucket = await new Objm(connection).open(BUCKET);
  await bucket.putBlob({ name: 'a'.repeat(64), description: 'older.whl' }, Buffer.alloc(900_000, 1));
  await bucket.putBlob({ name: 'b'.repeat(64), description: 'newer.whl' }, Buffer.alloc(900_000, 1));
  expect((await push('--most-mb', '1')).stdout).toContain('1 older one made room.');
  expect(await stored()).toEqual([fileOf('1.0'), 'newer.whl']);
  // Only the hash counts, so a large file that the lock names must not be stored either.
  const large = Buffer.alloc(1_200_000, 1);
  writeFileSync(filled, large);
  writeFileSync(join(folder, 'ml.lock'), `filler==1.0 --hash=sha256:${sha256(large)}\n`);
  const refused = await push('--most-mb', '1');
  expect(refused).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('The wheels take 2 MB, and at most 1 MB are allowed'),
  });
  expect(await stored()).toEqual([fileOf('1.0'), 'newer.whl']);
  rmSync(filled);
  expect((await push()).stderr).toContain('has no wheel that the lock names');
});
