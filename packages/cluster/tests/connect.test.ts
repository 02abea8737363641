import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import { silentLogger } from '../../core/src/base/logger.js';
import { openConnection } from '../src/connection.js';
import { makeKeyPair, natsCredentials, writeCredentials } from '../src/credentials.js';
import { addMember, removeMember } from '../src/setup/cluster-folder.js';
import { Nats } from './nats.js';
import { SecureCluster } from './secure-cluster.js';

const folder = temporaryFolder();
let cluster: SecureCluster;
beforeAll(async () => {
  cluster = await SecureCluster.start();
});
afterAll(() => cluster.stop());

/** The credentials of a worker, with a change. */
function changed(name: string, change: (creds: string) => void): string {
  const creds = join(folder, name);
  cpSync(cluster.creds('worker-1'), creds, { recursive: true });
  change(creds);
  return creds;
}

const open = (creds: string, url = cluster.nats.url) =>
  openConnection({ url, name: 'main' }, 'test', natsCredentials(creds), silentLogger);

test('whoever has no key is refused', async () => {
  const creds = changed('no-key', (path) => rmSync(join(path, 'nats.nk')));
  await expect(open(creds)).rejects.toThrow(
    /^Could not connect to NATS at tls:.*: .*Authorization Violation/,
  );
});

test('a key that the server does not know is refused', async () => {
  const creds = changed('stranger', (path) => writeCredentials(path, { nats: makeKeyPair().seed }));
  await expect(open(creds)).rejects.toThrow(/Authorization Violation/);
});

test('a server with a certificate of another authority is refused', async () => {
  const other = await SecureCluster.start();
  const creds = changed('other', (path) =>
    cpSync(join(other.creds('owner'), 'ca.pem'), join(path, 'ca.pem')),
  );
  await expect(open(creds)).rejects.toThrow(/^Could not connect to NATS.*certificate/);
  await other.stop();
});

test('a server that is reached under another name than its certificate has is refused', async () => {
  const tls = { caFile: join(cluster.creds('worker-1'), 'ca.pem'), servername: 'other.example' };
  await expect(connect({ servers: cluster.nats.url, tls })).rejects.toThrow(/other\.example|altnames/i);
});

test('a server without TLS is refused, with an authority or with tls:// alone', async () => {
  const plain = await Nats.start();
  await expect(open(cluster.creds('worker-1'), plain.url)).rejects.toThrow(/does not support 'tls'/);
  const creds = changed('no-authority', (path) => rmSync(join(path, 'ca.pem')));
  await expect(open(creds, plain.url.replace('nats:', 'tls:'))).rejects.toThrow(/does not support 'tls'/);
  await plain.stop();
});

test('a member that was added can connect after a reload, and one that was removed loses its connection', async () => {
  const { added } = addMember(cluster.folder, 'worker');
  await expect(cluster.connect(added.name)).rejects.toThrow(/Authorization Violation/);
  cluster.nats.reload();
  const connection = await until(() => cluster.connect(added.name).catch(() => undefined), 'it can connect');
  const ended = connection.closed();
  const other = await cluster.connect('worker-1');
  const stolen = join(folder, 'stolen');
  cpSync(cluster.creds(added.name), stolen, { recursive: true });
  removeMember(cluster.folder, added.name);
  cluster.nats.reload();
  await ended;
  await expect(open(stolen)).rejects.toThrow(/Authorization Violation/);
  await other.flush();
});

test('a message that is too large ends the connection of whoever sends it', async () => {
  const worker = await cluster.connect('worker-1');
  // The library would not even send it.
  Object.assign(worker.info!, { max_payload: 2 ** 31 });
  worker.publish('pungi.main.free', new Uint8Array(2 * 1024 * 1024));
  expect(`${await worker.closed()}`).toMatch(/Maximum Payload Violation|EPIPE|ECONNRESET/i);
});
