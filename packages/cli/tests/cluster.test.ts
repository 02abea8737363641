import { chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { MAIN } from '../../../tests/support/main.js';
import { isPublic, publicInterpreter, temporaryFolder } from '../../../tests/support/places.js';
import { Nats } from '../../cluster/tests/nats.js';
import { ORDINARY_USER } from '../../core/tests/corpus/ordinary-user.js';
import { program, pungi, start } from './pungi.js';

const base = temporaryFolder();
const place = (name: string) => join(base, name);

test('pungi cluster init says how to start the cluster, and a second one changes nothing', async () => {
  const folder = place('first');
  const { status, stdout, stderr } = await pungi(['cluster', 'init', folder]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toBe(`Wrote the cluster "main" into ${folder}: keys of 2 workers and 1 front end.

Start it, each in a terminal:
  cd ${folder} && nats-server -c nats.conf
  pungi worker --cluster tls://localhost:4222 --creds ${folder}/worker-1
  pungi serve --http --cluster tls://localhost:4222 --creds ${folder}/front-1

Copy each folder of keys only to its own machine, and keep ${folder}/owner to yourself.
`);
  expect(await pungi(['cluster', 'init', folder])).toEqual({
    status: 2,
    stdout: '',
    stderr: `pungi: ${folder} exists already, and nothing in it was changed: name a new folder.\n`,
  });
});

test('members and hosts are added and removed', async () => {
  const folder = place('second');
  const made = await pungi(['cluster', 'init', folder, '--name', 'blue', '--host', '2001:db8::1', '--json']);
  expect(JSON.parse(made.stdout)).toMatchObject({
    name: 'blue',
    hosts: ['2001:db8::1', 'localhost', '127.0.0.1', '::1'],
  });
  const worker = await pungi(['cluster', 'add', 'worker', folder]);
  expect(worker.stdout).toContain(
    `pungi worker --cluster tls://[2001:db8::1]:4222 --creds ${folder}/worker-3`,
  );
  const front = await pungi(['cluster', 'add', 'front', folder]);
  expect(front.stdout).toContain(
    'Copy front-ends.txt to the operator and to the machines of all workers and front ends',
  );
  const host = await pungi(['cluster', 'add', 'host', folder, 'nats.example.org']);
  expect(host.stdout).toContain('Wrote a certificate for nats.example.org, 2001:db8::1');
  const removed = await pungi(['cluster', 'remove', folder, 'worker-3']);
  expect(removed.stdout).toMatch(/^Removed worker-3\. Let the NATS server read users\.conf again/);
  expect(readdirSync(folder)).not.toContain('worker-3');
});

test.each([
  [
    'a number that is none',
    ['init', place('x'), '--workers', 'many'],
    "'many' is invalid: must be a whole number",
  ],
  ['a host that is none', ['init', place('x'), '--host', 'a b'], '"a b" is not a host'],
  ['a role that is none', ['add', 'king', place('x')], "unknown command 'king'"],
  ['a folder that is none', ['add', 'worker', place('nowhere')], 'is not the folder of a cluster'],
])('%s is refused with a sentence', async (_, args, sentence) => {
  const { status, stderr } = await pungi(['cluster', ...args]);
  expect(status).toBe(2);
  expect(stderr).toContain(sentence);
  expect(stderr).toMatch(/^pungi: [^\n]+\n$/);
});

test('a worker with another name than its credentials is refused', async () => {
  const folder = place('names');
  await pungi(['cluster', 'init', folder]);
  const common = ['--cluster', 'tls://127.0.0.1:1', '--creds', join(folder, 'worker-1')];
  expect((await pungi(['worker', ...common, '--worker-name', 'worker-2'])).stderr).toBe(
    'pungi: The credentials are of the worker "worker-1", not of "worker-2": leave out --worker-name, or give others.\n',
  );
  expect((await pungi(['worker', ...common, '--cluster-name', 'blue'])).stderr).toContain(
    'The credentials are of the cluster "main", not of "blue"',
  );
});

const message = (id: number, method: string, params: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

test('an ordinary user sets a cluster up, and runs code in it', async () => {
  const home = place('home');
  mkdirSync(home);
  // Another user cannot start a program that lies in a private folder.
  const user = isPublic(MAIN) ? ORDINARY_USER : undefined;
  if (user) {
    for (const path of [base, home]) chownSync(path, user.uid, user.gid);
  }
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: home,
    TMPDIR: home,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
    PUNGI_DATA_DIR: join(home, 'data'),
    PUNGI_PYTHON: await publicInterpreter(),
    POOL_SIZE: '1',
    // The folder of coverage belongs to whoever runs the tests.
    NODE_V8_COVERAGE: '',
  };
  const setting = { env, user };
  const folder = join(home, 'cluster');
  const made = await program(['cluster', 'init', folder, '--name', 'blue'], setting);
  expect(made).toMatchObject({ status: 0, stderr: '' });
  expect(statSync(folder).uid).toBe(user?.uid ?? process.getuid?.());

  const nats = await Nats.start(folder);
  const member = (name: string) => ['--cluster', nats.url, '--creds', join(folder, name)];
  const worker = start(['worker', ...member('worker-1')], setting);
  await worker.shows('stderr', 'The worker takes runs');
  const front = start(['serve', ...member('front-1')], setting);
  const clientInfo = { name: 'test', version: '1' };
  front.child.stdin.write(
    message(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }),
  );
  front.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  const call = { name: 'execute_python', arguments: { code: 'print(6 * 7)' } };
  front.child.stdin.write(message(2, 'tools/call', call));
  expect(await front.shows('stdout', '"id":2')).toContain('42');
  front.child.stdin.end();
  expect((await front.ended).status).toBe(0);
  worker.child.kill('SIGTERM');
  expect((await worker.ended).status).toBe(0);
  await nats.stop();
});

describe('credentials of another role', () => {
  const folder = place('roles');
  const given = (name: string) => ['--cluster', 'tls://127.0.0.1:9', '--creds', join(folder, name)];
  const of = (name: string, whose: string, wanted: string, example: string) =>
    `pungi: The credentials in ${join(folder, name)} are those of ${whose}, and those of ${wanted} are needed: give --creds DIR/${example}.\n`;
  const lock = join(folder, 'ml.lock');
  beforeAll(async () => {
    await pungi(['cluster', 'init', folder]);
    writeFileSync(lock, `six==1.17.0 --hash=sha256:${'0'.repeat(64)}\n`);
  });

  test.each([
    [['worker', ...given('front-1')], of('front-1', 'a front end', 'a worker', 'worker-1')],
    [['worker', ...given('operator')], of('operator', 'an operator', 'a worker', 'worker-1')],
    [['serve', ...given('operator')], of('operator', 'an operator', 'a front end', 'front-1')],
    [['serve', ...given('worker-1')], of('worker-1', 'a worker', 'a front end', 'front-1')],
    [['env', 'list', ...given('operator')], of('operator', 'an operator', 'a front end', 'front-1')],
    [
      ['cluster', 'wheels', lock, folder, ...given('operator')],
      of('operator', 'an operator', 'a front end', 'front-1'),
    ],
    [['audit', 'verify', ...given('front-1')], of('front-1', 'a front end', 'an operator', 'operator')],
    [
      ['worker', ...given('')],
      `pungi: ${join(folder, '')} is the folder of the whole cluster: give that of one member, --creds DIR/worker-1.\n`,
    ],
    [
      ['worker', ...given('nobody')],
      `pungi: There is no folder ${join(folder, 'nobody')}: name the credentials with --creds.\n`,
    ],
  ])('%j', async (args, stderr) => {
    expect(await pungi(args)).toEqual({ status: 2, stdout: '', stderr });
  });
});

test('a new host of a NATS server that listens only here is not enough', async () => {
  const [local, open] = [place('local'), place('open')];
  await pungi(['cluster', 'init', local]);
  await pungi(['cluster', 'init', open, '--host', 'nats.example.org']);
  const add = (folder: string) => pungi(['cluster', 'add', 'host', folder, 'nats-2.example.org']);
  expect((await add(local)).stdout).toContain(`change "host" in ${join(local, 'nats.conf')} first.`);
  expect((await add(open)).stdout).toMatch(/restart the NATS server\.\n$/);
});
