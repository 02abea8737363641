import { expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { environmentCluster, eventsOf, VERSION } from './environment-cluster.js';

const world = environmentCluster();

test('what one worker has installed runs on another, built from the lock', async () => {
  const first = await world.cluster.worker();
  const pungi = await world.front();
  const steps: string[] = [];
  const made = await pungi.environments.create(
    { venvName: 'ml', description: 'Fruit.', packages: ['cherry'] },
    { onStep: (step) => steps.push(step) },
  );
  expect(made.environment).toMatchObject({ venvName: 'ml', description: 'Fruit.', requested: ['cherry'] });
  expect(steps.join()).toContain('Creating the environment "ml".');
  const second = await world.cluster.worker();
  await until(async () => (await pungi.environments.show('ml')).warmOn?.includes('w1'), 'w1 has it');
  first.signal('SIGTERM');
  await first.running.ended;
  const { verdict, value } = await pungi.run({ code: VERSION, venvName: 'ml' });
  expect(verdict).toEqual({ kind: 'ok' });
  const { packages } = (await pungi.environments.metadata('ml'))!;
  expect(packages.find(({ name }) => name === 'apple')?.version).toBe(value?.json);
  expect(eventsOf(second, 'built')).toMatchObject([{ environment: 'ml' }]);
});

test('an environment is changed by any worker, and other front ends see it', async () => {
  await world.cluster.worker();
  const [one, other] = [await world.front(), await world.front()];
  await one.environments.create({ venvName: 'ml', packages: ['apple==1.0'] });
  expect((await other.run({ code: VERSION, venvName: 'ml' })).value?.json).toBe('1.0');
  const report = await other.environments.install('ml', ['apple==2.0', 'banana']);
  expect(report.added.map(({ name }) => name).sort()).toEqual(['apple', 'banana']);
  await until(
    async () => (await one.environments.show('ml')).requested.includes('banana'),
    'the first front end sees the change',
  );
  expect((await one.run({ code: VERSION, venvName: 'ml' })).value?.json).toBe('2.0');
  await one.environments.uninstall('ml', ['banana']);
  await until(
    async () => `${(await other.environments.show('ml')).requested}` === 'apple==2.0',
    'the second front end sees the change',
  );
  const { verdict } = await other.run({ code: 'import banana', venvName: 'ml' });
  expect(verdict).toMatchObject({ kind: 'python-error' });
});

test('changes of two front ends at the same time follow each other, and none is lost', async () => {
  await world.cluster.worker();
  await world.cluster.worker();
  const [one, other] = [await world.front(), await world.front()];
  await one.environments.create({ venvName: 'ml' });
  const steps: string[] = [];
  const onStep = (step: string) => steps.push(step);
  await Promise.all([
    one.environments.install('ml', ['apple==1.0'], { onStep }),
    other.environments.install('ml', ['scripted'], { onStep }),
  ]);
  expect(steps.filter((step) => step.startsWith('Waiting for another change'))).toHaveLength(1);
  for (const { environments } of [one, other])
    await until(
      async () => `${(await environments.show('ml')).requested.toSorted()}` === 'apple==1.0,scripted',
      'the front end sees both changes',
    );
});

test('of two front ends that make the same environment one succeeds, the other hears that it exists', async () => {
  await world.cluster.worker();
  const fronts = [await world.front(), await world.front()];
  const made = await Promise.allSettled(
    fronts.map(({ environments }) => environments.create({ venvName: 'x' })),
  );
  expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = made.find((one) => one.status === 'rejected');
  expect(refused?.reason).toMatchObject({ code: 'ENVIRONMENT_EXISTS' });
  await expect(fronts[0]!.environments.create({ venvName: 'X' })).rejects.toMatchObject({
    message: expect.stringContaining('in case only'),
  });
});

test('a worker that is killed during a change: another one begins again', async () => {
  const first = await world.cluster.worker();
  const pungi = await world.front();
  world.index.hang(true);
  const steps: string[] = [];
  const installed = pungi.environments.install(undefined, ['apple==1.0'], {
    onStep: (step) => steps.push(step),
  });
  const before = world.index.requests.length;
  await until(() => world.index.requests.length > before, 'the worker asks the index');
  await world.cluster.worker();
  first.signal('SIGKILL');
  await until(() => steps.some((step) => step.includes('The worker w1 was lost')), 'it is noticed');
  world.index.hang(false);
  expect(await installed).toMatchObject({ added: [{ name: 'apple', version: '1.0' }] });
  expect((await pungi.run({ code: VERSION })).value?.json).toBe('1.0');
});

test('a change that fails or is cancelled leaves the environment as it was', async () => {
  await world.cluster.worker();
  const pungi = await world.front();
  await pungi.environments.create({ venvName: 'ml', packages: ['apple==1.0'] });
  await expect(pungi.environments.install('ml', ['no-such-package'])).rejects.toMatchObject({
    code: 'PACKAGE_INSTALLATION_ERROR',
    details: { packages: [{ package: 'no-such-package', status: 'failed' }] },
  });
  await expect(pungi.environments.install('ml', ['badhash'])).rejects.toMatchObject({
    code: 'PACKAGE_INSTALLATION_ERROR',
  });
  world.index.hang(true);
  const stop = new AbortController();
  const before = world.index.requests.length;
  const cancelled = pungi.environments.install('ml', ['banana'], { signal: stop.signal });
  await until(() => world.index.requests.length > before, 'the worker asks the index');
  stop.abort(new Error('enough'));
  await expect(cancelled).rejects.toThrow('enough');
  world.index.hang(false);
  expect((await pungi.environments.show('ml')).requested).toEqual(['apple==1.0']);
  expect((await pungi.run({ code: VERSION, venvName: 'ml' })).value?.json).toBe('1.0');
});
