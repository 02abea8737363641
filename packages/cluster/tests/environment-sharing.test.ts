import { expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { start } from '../../cli/tests/pungi.js';
import type { EnvironmentInfo } from '../../core/src/contract/environment.js';
import { environmentCluster, VERSION } from './environment-cluster.js';

const world = environmentCluster();

/** A command in a process of its own, at the cluster. */
const command = (args: string[]) => {
  const { nats, frontCreds } = world.cluster;
  return start([...args, '--cluster', nats.url, '--creds', frontCreds], {
    env: { PUNGI_UV: '/nonexistent' },
  });
};

test('pungi env works on a cluster, and its list names the workers that have an environment', async () => {
  await world.cluster.worker();
  const made = await command(['env', 'create', 'ml', 'apple==1.0', '--description', 'Fruit.']).ended;
  expect(made).toMatchObject({ status: 0, stdout: expect.stringContaining('ml') });
  const pungi = await world.front();
  await until(async () => (await pungi.environments.show('ml')).isWarm, 'the worker has it');
  const listed = await command(['env', 'list']).ended;
  expect(listed.stdout).toMatch(/NAME.*WARM ON/);
  expect(listed.stdout).toMatch(/ml.*w1.*Fruit\./);
  const json = JSON.parse((await command(['env', 'list', '--json']).ended).stdout) as EnvironmentInfo[];
  expect(json.find(({ venvName }) => venvName === 'ml')).toMatchObject({ warmOn: ['w1'], isWarm: true });
  const deleted = await command(['env', 'delete', 'ml', '--yes']).ended;
  expect(deleted).toMatchObject({ status: 0, stdout: 'Deleted the environment "ml".\n' });
  await until(
    async () => !(await pungi.environments.list()).some(({ venvName }) => venvName === 'ml'),
    'the front end sees it',
  );
});

test('a front end that is killed during a change keeps others from it only for a moment', async () => {
  await world.cluster.worker();
  const pungi = await world.front();
  await pungi.environments.create({ venvName: 'ml' });
  world.index.hang(true);
  const before = world.index.requests.length;
  const installing = command(['env', 'install', 'ml', 'banana']);
  await until(() => world.index.requests.length > before, 'the worker asks the index');
  await expect(pungi.environments.delete({ venvName: 'ml', confirm: true })).rejects.toMatchObject({
    code: 'ENVIRONMENT_IN_USE',
    message: expect.stringContaining('is being changed'),
  });
  installing.child.kill('SIGKILL');
  await installing.ended;
  world.index.hang(false);
  await pungi.environments.install('ml', ['apple==1.0']);
  expect((await pungi.environments.show('ml')).requested).toEqual(['apple==1.0']);
  expect((await pungi.run({ code: VERSION, venvName: 'ml' })).value?.json).toBe('1.0');
});

test('a front end that was stopped during a change does not undo what others have changed meanwhile', async () => {
  await world.cluster.worker();
  const pungi = await world.front();
  await pungi.environments.create({ venvName: 'ml' });
  world.index.hang(true);
  const before = world.index.requests.length;
  const installing = command(['env', 'install', 'ml', 'banana']);
  await until(() => world.index.requests.length > before, 'the worker asks the index');
  installing.child.kill('SIGSTOP');
  world.index.hang(false);
  await pungi.environments.install('ml', ['apple==1.0']);
  installing.child.kill('SIGCONT');
  const { status } = await installing.ended;
  const { requested } = await pungi.environments.show('ml');
  // Either it was refused, or it was made after the other one.
  expect(requested).toEqual(status === 0 ? ['apple==1.0', 'banana'] : ['apple==1.0']);
});

test('environments outlast a NATS server that is killed and started again, and changes are seen after it', async () => {
  await world.cluster.worker();
  const [one, other] = [await world.front(), await world.front()];
  await one.environments.create({ venvName: 'ml', packages: ['apple==1.0'] });
  await world.cluster.nats.kill();
  await world.cluster.nats.start();
  await until(
    () => one.environments.install('ml', ['apple==2.0']).catch(() => undefined),
    'the cluster can be changed again',
  );
  await until(
    async () => (await other.environments.show('ml')).requested.includes('apple==2.0'),
    'the other front end sees the change',
  );
  expect((await other.run({ code: VERSION, venvName: 'ml' })).value?.json).toBe('2.0');
});

test('environments are cloned, described, exported, imported and cleaned as on one machine', async () => {
  await world.cluster.worker();
  const { environments } = await world.front();
  await environments.create({ venvName: 'ml', packages: ['cherry'] });
  expect(await environments.clone({ from: 'ml', to: 'copy' })).toMatchObject({ requested: ['cherry'] });
  expect(await environments.setDescription('copy', 'A copy.')).toMatchObject({ description: 'A copy.' });
  const lock = await environments.export('copy');
  expect(lock).toContain('apple==1.');
  expect(await environments.import({ venvName: 'again', lock })).toMatchObject({ description: 'A copy.' });
  await environments.uninstall('again', ['cherry']);
  expect(await environments.ownPackages('again')).toEqual([]);
  expect(await environments.ownPackages('copy')).toHaveLength(2);
  expect(await environments.clean({ dryRun: true })).toEqual({ removed: [], dryRun: true });
  await expect(environments.show('coppy')).rejects.toMatchObject({
    code: 'ENVIRONMENT_NOT_FOUND',
    message: expect.stringContaining('Did you mean "copy"?'),
  });
  await expect(environments.import({ venvName: 'bad', lock: 'apple==1.0' })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
  });
});

test('the number of environments is bounded, and those of scripts make room', async () => {
  await world.cluster.worker();
  const pungi = await world.front({ maxEnvironments: 2 });
  await pungi.environments.create({ venvName: 'one' });
  const [first, second] = ['apple==1.0', 'apple==1.1'].map((wanted) => ({
    code: VERSION,
    packages: [wanted],
  }));
  expect((await pungi.run(first!)).value?.json).toBe('1.0');
  expect((await pungi.run(second!)).value?.json).toBe('1.1');
  expect(await pungi.environments.list()).toHaveLength(3); // with the default one, which is empty
  await expect(pungi.environments.create({ venvName: 'two' })).rejects.toMatchObject({
    code: 'DENIED',
    message: expect.stringContaining('MAX_ENVIRONMENTS'),
  });
});
