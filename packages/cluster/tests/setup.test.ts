import { X509Certificate } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { memberOf, natsCredentials, signerOf, verifierOf } from '../src/credentials.js';
import { addHosts, addMember, initCluster, removeMember } from '../src/setup/cluster-folder.js';

const base = temporaryFolder();
const NEW = { name: 'main', workers: 2, fronts: 1, hosts: [] };
let serial = 0;
const newFolder = () => join(base, `${++serial}`, 'cluster');

function made(more: Partial<Parameters<typeof initCluster>[1]> = {}): string {
  const folder = newFolder();
  initCluster(folder, { ...NEW, ...more });
  return folder;
}

/** Every file with its content. */
function contentOf(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    paths.map(({ parentPath, name }) => [
      join(parentPath, name),
      readFileSync(join(parentPath, name), 'utf8'),
    ]),
  );
}

const verifies = (front: string, worker: string) =>
  verifierOf(worker).open('subject', signerOf(front).sign('subject', Buffer.from('x'))) !== undefined;

test('a new cluster has a folder for each member, which only its owner can read', () => {
  const folder = made();
  expect(readdirSync(folder).sort()).toEqual([
    'cluster.json',
    'front-1',
    'nats.conf',
    'operator',
    'owner',
    'tls',
    'users.conf',
    'worker-1',
    'worker-2',
  ]);
  for (const { parentPath, name } of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const { mode } = statSync(join(parentPath, name));
    expect([name, mode & 0o077]).toEqual([name, 0]);
  }
  expect(readdirSync(join(folder, 'worker-1')).sort()).toEqual([
    'ca.pem',
    'front-ends.txt',
    'member.json',
    'nats.nk',
    'operators.txt',
  ]);
  expect(memberOf(join(folder, 'worker-1'))).toEqual({ cluster: 'main', role: 'worker', name: 'worker-1' });
  expect(natsCredentials(join(folder, 'front-1'))).toMatchObject({ inboxPrefix: '_INBOX.front-1' });
  expect(verifies(join(folder, 'front-1'), join(folder, 'worker-2'))).toBe(true);
  // What an operator or the owner signs is no order to run code.
  for (const other of ['operator', 'owner'])
    expect(verifies(join(folder, other), join(folder, 'worker-2'))).toBe(false);
});

test('no secret is in two places', () => {
  const contents = contentOf(made());
  const secrets = Object.entries(contents).filter(([path]) => /\.(nk|key)$/.test(path));
  expect(secrets.length).toBe(5 + 3 + 2);
  for (const [path, secret] of secrets)
    expect(Object.entries(contents).filter(([, text]) => text.includes(secret.trim()))).toEqual([
      [path, secret],
    ]);
});

test('a folder that exists is left as it is', () => {
  const folder = made();
  const before = contentOf(folder);
  expect(() => initCluster(folder, NEW)).toThrow(
    `${folder} exists already, and nothing in it was changed: name a new folder.`,
  );
  expect(contentOf(folder)).toEqual(before);
  const file = join(base, 'file');
  writeFileSync(file, 'mine');
  expect(() => initCluster(file, NEW)).toThrow('exists already');
  expect(readFileSync(file, 'utf8')).toBe('mine');
  // Nothing is left beside it.
  expect(readdirSync(join(folder, '..'))).toEqual(['cluster']);
});

test('an empty folder is filled', () => {
  const folder = newFolder();
  mkdirSync(folder, { recursive: true });
  initCluster(folder, NEW);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test.each([
  [{ name: 'a.b' }, 'The name of a cluster has letters, digits, "_" and "-": "a.b" cannot be used.'],
  [{ name: '>' }, 'cannot be used'],
  [{ workers: 0 }, 'A cluster has 1 to 499 workers and front ends.'],
  [{ hosts: ['a b'] }, '"a b" is not a host'],
  [{ hosts: ['evil"\nport: 1'] }, 'is not a host'],
  [{ hosts: ['-x'] }, 'is not a host'],
])('%j is refused, and nothing is written', (wrong, sentence) => {
  const folder = newFolder();
  expect(() => initCluster(folder, { ...NEW, ...wrong })).toThrow(sentence);
  expect(() => statSync(folder)).toThrow('ENOENT');
});

test('the certificate is for the given hosts and this machine, and signed by the authority that members trust', () => {
  const folder = made({ hosts: ['nats.example.org', '10.0.0.5', '2001:db8::7'] });
  const server = () => new X509Certificate(readFileSync(join(folder, 'tls/server.pem')));
  const authority = new X509Certificate(readFileSync(join(folder, 'worker-1/ca.pem')));
  expect(server().verify(authority.publicKey)).toBe(true);
  expect(server().checkIssued(authority)).toBe(true);
  expect(authority.ca).toBe(true);
  expect(server().ca).toBe(false);
  for (const host of ['nats.example.org', 'localhost']) expect(server().checkHost(host)).toBe(host);
  for (const address of ['10.0.0.5', '2001:db8::7', '127.0.0.1', '::1'])
    expect(server().checkIP(address)).toBe(address);
  expect(server().checkHost('other.example.org')).toBeUndefined();
  addHosts(folder, ['other.example.org']);
  expect(server().checkHost('other.example.org')).toBe('other.example.org');
  expect(server().checkHost('nats.example.org')).toBe('nats.example.org');
  expect(server().verify(authority.publicKey)).toBe(true);
});

test('without a host, the server listens on this machine only', () => {
  expect(readFileSync(join(made(), 'nats.conf'), 'utf8')).toContain('host: "127.0.0.1"');
  expect(readFileSync(join(made({ hosts: ['nats.example.org'] }), 'nats.conf'), 'utf8')).toContain(
    'host: "0.0.0.0"',
  );
});

test('members that are added get folders of their own, and the others keep theirs', () => {
  const folder = made();
  const before = contentOf(folder);
  expect(addMember(folder, 'worker').added.name).toBe('worker-3');
  expect(addMember(folder, 'front').added.name).toBe('front-2');
  const after = contentOf(folder);
  const changed = Object.keys(before).filter((path) => before[path] !== after[path]);
  expect(changed.map((path) => path.slice(folder.length + 1)).sort()).toEqual([
    'cluster.json',
    'front-1/front-ends.txt',
    'operator/front-ends.txt',
    'users.conf',
    'worker-1/front-ends.txt',
    'worker-2/front-ends.txt',
  ]);
  for (const front of ['front-1', 'front-2'])
    for (const worker of ['worker-1', 'worker-2', 'worker-3'])
      expect(verifies(join(folder, front), join(folder, worker))).toBe(true);
});

test('a front end that is removed is trusted by no worker', () => {
  const folder = made({ fronts: 2 });
  const signer = signerOf(join(folder, 'front-2'));
  removeMember(folder, 'front-2');
  const message = signer.sign('subject', Buffer.from('x'));
  expect(verifierOf(join(folder, 'worker-1')).open('subject', message)).toBeUndefined();
  expect(() => removeMember(folder, 'front-2')).toThrow('has no member "front-2"');
  expect(() => removeMember(folder, 'owner')).toThrow('The owner cannot be removed.');
  expect(() => removeMember(folder, '../..')).toThrow('has no member "../.."');
});

test('a folder that is no cluster is refused with a sentence', () => {
  const folder = newFolder();
  expect(() => addMember(folder, 'worker')).toThrow(
    /is not the folder of a cluster: cluster\.json cannot be read/,
  );
  const damaged = made();
  writeFileSync(join(damaged, 'cluster.json'), '{');
  expect(() => addMember(damaged, 'worker')).toThrow('does not describe a cluster: restore it from a copy.');
});

test('one change at a time', () => {
  const folder = made();
  mkdirSync(join(folder, '.changing'));
  expect(() => addMember(folder, 'worker')).toThrow(
    /Another command changes .*: try again, or remove .*\.changing/,
  );
  rmSync(join(folder, '.changing'), { recursive: true });
  expect(addMember(folder, 'worker').added.name).toBe('worker-3');
});
