import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kvm } from '@nats-io/kv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lastingFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import { pungi as command } from '../../cli/tests/pungi.js';
import { openTrailForReading } from '../../core/src/audit/trail-reader.js';
import { type Logger, silentLogger } from '../../core/src/base/logger.js';
import type { ProfileDefinition } from '../../core/src/contract/profile.js';
import type { Pungi } from '../../core/src/pungi.js';
import { signerOf } from '../src/credentials.js';
import { signSet } from '../src/protocol/profiles.js';
import { PROTOCOL } from '../src/protocol/version.js';
import { SecureCluster } from './secure-cluster.js';

const place = lastingFolder();
const auditDir = join(place, 'audit');
let cluster: SecureCluster;
let first: Pungi;
let second: Pungi;
/** Why the first front end has refused sets. */
const refused: string[] = [];
const logger: Logger = {
  ...silentLogger,
  error: (message, details) => {
    if (message.startsWith('The shared profiles')) refused.push(String(details?.['why']));
  },
};

beforeAll(async () => {
  cluster = await SecureCluster.start();
  await cluster.worker('worker-1');
  const profilesFile = join(place, 'profiles.yaml');
  writeFileSync(
    profilesFile,
    'profiles: { own: { blocked_imports: [json] }, reports: { blocked_imports: [json] } }',
  );
  first = await cluster.front(1, { profilesFile, audit: true, auditDir }, 'front-1', logger);
  second = await cluster.front(1, { profilesFile }, 'front-2');
});
afterAll(() => cluster.stop());

const run = (args: string[], member = 'owner') =>
  command(['cluster', 'profiles', ...args, '--cluster', cluster.nats.url, '--creds', cluster.creds(member)]);

let serial = 0;
/** Pushes what a profiles file has below `profiles`. */
async function push(profiles: object, member = 'owner') {
  const file = join(place, `${++serial}.yaml`);
  writeFileSync(file, JSON.stringify({ profiles }));
  return run(['push', file], member);
}

const verdict = async (pungi: Pungi, code: string, profile?: string) =>
  (await pungi.run({ code, ...(profile !== undefined && { profile }) })).verdict.kind;

const obeyed = (code: string, expected: string, profile?: string) =>
  until(async () => {
    const kinds = [await verdict(first, code, profile), await verdict(second, code, profile)];
    return kinds.every((kind) => kind === expected);
  }, `both front ends answer ${code} with ${expected}`);

/** Somebody who can write whatever the owner can, such as the NATS server itself. */
async function store(value: Buffer): Promise<void> {
  const bucket = await new Kvm(await cluster.connect('owner')).open('pungi-main-profiles', {
    allow_direct: false,
  });
  await bucket.put('set', value);
}

async function stored(): Promise<Buffer> {
  const bucket = await new Kvm(await cluster.connect('owner')).open('pungi-main-profiles', {
    allow_direct: false,
  });
  return Buffer.from((await bucket.get('set'))!.value);
}

const signed = (
  member: string,
  version: number,
  profiles: Record<string, ProfileDefinition>,
  name = 'main',
) => signSet(signerOf(cluster.creds(member)), name, { v: PROTOCOL, version, profiles });

test('without shared profiles, those of the file apply', async () => {
  expect(await verdict(first, 'import json', 'reports')).toBe('denied');
  expect(await verdict(first, 'import csv')).toBe('ok');
  expect(await run(['list'])).toMatchObject({
    status: 0,
    stdout: 'The cluster shares no profiles (version 0).\n',
  });
});

test('what the owner pushes holds at both front ends for the next runs, without a restart', async () => {
  const pushed = await push({ default: { blocked_imports: ['csv'] }, reports: { extends: 'default' } });
  expect(pushed).toMatchObject({ status: 0, stdout: 'Shared 2 profiles (default, reports): version 1.\n' });
  await obeyed('import csv', 'denied');
  // It takes the place of the one in the file; the others of the file stay.
  expect(await verdict(first, 'import json', 'reports')).toBe('ok');
  expect(await verdict(first, 'import csv', 'reports')).toBe('denied');
  expect(await verdict(first, 'import json', 'own')).toBe('denied');
  expect(await verdict(first, 'import csv', 'own')).toBe('ok');
  const { stdout } = await run(['list'], 'front-2');
  expect(stdout).toMatch(/NAME +EXTENDS +DESCRIPTION\ndefault *\nreports +default *\nVersion 1\n/);
});

test('the audit trail has the change', async () => {
  const reader = await openTrailForReading(auditDir);
  const found = () =>
    reader.list({ kind: 'configuration', limit: 1 })[0]!.data as { change: string; after: object };
  await until(() => found().change === 'profiles', 'the change is recorded');
  expect(JSON.stringify(found().after)).toContain('"origin":"cluster"');
  reader.close();
});

test('a built-in profile that extends a shared one follows it', async () => {
  await push({ strategic: { blocked_imports: ['csv'] } });
  const blocked = () => first.profiles.get('diego').blockedImports.join();
  await until(() => blocked() === 'csv', 'it has the rules of the shared one');
  expect(await run(['remove', 'strategic'])).toMatchObject({ status: 0 });
  await until(() => blocked().includes('subprocess'), 'it is as before');
});

test('a removed profile gives way to that of the file', async () => {
  expect(await run(['remove', 'reports'])).toMatchObject({ status: 0 });
  await obeyed('import json', 'denied', 'reports');
  await push({ reports: { extends: 'default' } });
  await obeyed('import json', 'ok', 'reports');
});

test.each(['front-1', 'operator', 'worker-1'])('%s cannot push', async (member) => {
  const { status, stderr } = await push({ default: {} }, member);
  expect(status).toBe(77);
  expect(stderr).toContain('Only the owner of a cluster shares profiles: give --creds DIR/owner.');
});

test.each<[what: string, value: () => Promise<Buffer> | Buffer, why: string]>([
  ['signed by a front end', () => signed('front-1', 99, {}), 'not signed with the key of the owner'],
  ['of another cluster', () => signed('owner', 99, {}, 'other'), 'not signed with the key of the owner'],
  ['of an older version', () => signed('owner', 1, {}), 'version 1, which is older'],
  [
    'with a profile under another name',
    async () => Buffer.from((await stored()).toString('latin1').replace('"reports"', '"reportz"'), 'latin1'),
    'not signed with the key of the owner',
  ],
  [
    'with a profile that extends none',
    () => signed('owner', 98, { broken: { extends: 'nothing' } }),
    'there is no profile "nothing" to extend',
  ],
  ['with unknown rules', () => signed('owner', 97, { odd: { rules: [] } as never }), 'cannot be read'],
  ['that is no set', () => Buffer.from('x'), 'not signed'],
])('a set %s is refused, and the one before stays in force', async (_, value, why) => {
  const before = await stored();
  refused.length = 0;
  await store(await value());
  await until(() => refused.some((reason) => reason.includes(why)), 'the front end refuses it');
  expect(await verdict(first, 'import csv')).toBe('denied');
  expect(await verdict(second, 'import csv')).toBe('denied');
  await store(before);
});

test('a set that was deleted stays in force', async () => {
  const bucket = await new Kvm(await cluster.connect('owner')).open('pungi-main-profiles', {
    allow_direct: false,
  });
  const before = await stored();
  refused.length = 0;
  await bucket.delete('set');
  await until(() => refused.length > 0, 'the front end notices it');
  expect(await verdict(first, 'import csv')).toBe('denied');
  await store(before);
});

test('profiles hold while NATS restarts, and are followed afterwards', async () => {
  await cluster.nats.kill();
  expect(first.profiles.get('default').blockedImports).toEqual(['csv']);
  await cluster.nats.start();
  await until(
    async () => (await push({ default: { blocked_imports: ['csv', 'wave'] } })).status === 0,
    'it is pushed',
  );
  await obeyed('import wave', 'denied');
});

test('a front end that starts has them before its first run', async () => {
  const third = await cluster.front(1, {}, 'front-2');
  expect(await verdict(third, 'import csv')).toBe('denied');
});

test.each([
  [{ template_vars: { api_token: 'abc' } }, 'template_vars.api_token is a value with the name of a secret'],
  [{ template_vars: { db: { userPassword: 'abc' } } }, 'template_vars.db.userPassword is a value'],
  [{ template_vars: { note: 'ghp_abcdefghijklmnopqrstuvwxyz012345' } }, 'template_vars.note is a token'],
  [{ packages: ['six @ git+https://ann:secret@host/six.git'] }, 'packages.0 is an address with a user'],
  [{ description: '-----BEGIN PRIVATE KEY-----' }, 'description is a private key'],
])('secrets are never shared: %j', async (profile, sentence) => {
  const { status, stderr } = await push({ leaky: profile });
  expect(status).toBe(2);
  expect(stderr).toContain(`The profile "leaky" has a secret: ${sentence}`);
  expect(stderr).toContain('Secrets are never shared');
});

test('what is no secret is shared, from all files of a folder', async () => {
  const folder = join(place, 'all');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'a.yaml'),
    'profiles: { a: { template_vars: { currency: EUR, tokenizer: bpe, author: ann } } }',
  );
  writeFileSync(
    join(folder, 'b.yml'),
    'profiles: { b: { extends: a, network: { allow: [api.example.com] } } }',
  );
  writeFileSync(join(folder, 'notes.txt'), 'not a profile');
  expect((await run(['push', folder])).stdout).toContain('Shared 2 profiles (a, b)');
  expect((await run(['remove', 'a'])).stderr).toContain('there is no profile "a" to extend');
  expect(await run(['remove', 'a', 'b'])).toMatchObject({ status: 0 });
  expect((await run(['remove', 'a'])).stderr).toContain('The cluster shares no profile "a"');
  const folders = await push({ data: { workspace: [{ name: 'x', path: '/srv' }] } });
  expect(folders.stderr).toContain('a cluster has no folders with data');
});
