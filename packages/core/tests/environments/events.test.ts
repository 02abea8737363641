import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as later } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { PungiError } from '../../src/base/errors.js';
import { callerOf } from '../../src/contract/caller.js';
import type { EnvironmentEvent } from '../../src/contract/environment.js';
import type { EnvironmentsOptions } from '../../src/environments/environments.js';
import { openEnvironments, openWorld, refusal } from './world.js';

const world = await openWorld();
const LOCK = { sha256: expect.stringMatching(/^[0-9a-f]{64}$/), text: expect.stringContaining('# pungi:') };
const caller = callerOf({ client: 'anna' });
const steps = { caller };

/** Environments, and what they have told so far. */
function listening(options: Partial<EnvironmentsOptions> = {}) {
  const told: EnvironmentEvent[] = [];
  const onEvent = async (event: EnvironmentEvent) => {
    // Whoever does not wait for it is done by then.
    await later();
    await later();
    told.push(event);
  };
  const environments = openEnvironments(world, { onEvent, ...options });
  return { environments, news: () => told.splice(0) };
}

test('every change of an environment is told before it is answered', async () => {
  const { environments, news } = listening();
  const change = { caller, lock: LOCK };
  await environments.create({ venvName: 'one', packages: ['apple<2'] }, steps);
  expect(news()).toEqual([
    {
      ...change,
      action: 'create',
      environment: 'one',
      details: { pythonVersion: expect.stringMatching(/^3\./), requested: ['apple<2'] },
    },
  ]);
  await environments.setDescription('one', 'the first', steps);
  expect(news()).toEqual([
    { ...change, action: 'describe', environment: 'one', details: { description: 'the first' } },
  ]);
  await environments.clone({ from: 'one', to: 'two' }, steps);
  expect(news()).toEqual([{ ...change, action: 'clone', environment: 'two', details: { from: 'one' } }]);
  await environments.import({ venvName: 'three', lock: await environments.export('one') }, steps);
  expect(news()).toMatchObject([{ ...change, action: 'import', environment: 'three' }]);
  await environments.delete({ venvName: 'three', confirm: true }, steps);
  expect(news()).toEqual([{ ...change, action: 'delete', environment: 'three', details: {} }]);
});

test('packages that come and go are told, with the lock that this leads to', async () => {
  const { environments, news } = listening();
  await environments.create({ venvName: 'changing', packages: ['apple==1.0'] });
  const [before] = news();
  await environments.install('changing', ['apple==1.1'], steps);
  const [installed] = news();
  expect(installed).toEqual({
    action: 'install',
    environment: 'changing',
    requested: ['apple==1.1'],
    added: [{ name: 'apple', version: '1.1' }],
    removed: [{ name: 'apple', version: '1.0' }],
    lock: LOCK,
    error: null,
    caller,
  });
  expect(installed!.lock).not.toEqual(before!.lock);
  expect(installed!.lock!.text).toContain('apple==1.1');
  await environments.uninstall('changing', ['apple'], steps);
  expect(news()).toMatchObject([
    { action: 'uninstall', added: [], removed: [{ name: 'apple', version: '1.1' }], error: null },
  ]);
});

test('the first packages of the default environment are told as both', async () => {
  const { environments, news } = listening({ defaultName: 'own-default' });
  await environments.install(undefined, ['apple'], steps);
  expect(news()).toMatchObject([
    { action: 'create', environment: 'own-default' },
    { action: 'install', environment: 'own-default', added: [{ name: 'apple' }], caller },
  ]);
});

test('packages that could not be installed are told with the reason', async () => {
  const { environments, news } = listening();
  await environments.create({ venvName: 'steady', packages: ['apple'] });
  news();
  const nothing = { environment: 'steady', added: [], removed: [], lock: null, caller };
  expect((await refusal(environments.install('steady', ['no-such-thing'], steps))).code).toBe(
    'PACKAGE_INSTALLATION_ERROR',
  );
  expect(news()).toEqual([
    { ...nothing, action: 'install', requested: ['no-such-thing'], error: 'PACKAGE_INSTALLATION_ERROR' },
  ]);
  expect((await refusal(environments.uninstall('steady', ['banana'], steps))).code).toBe('INVALID_INPUT');
  expect(news()).toEqual([
    { ...nothing, action: 'uninstall', requested: ['banana'], error: 'INVALID_INPUT' },
  ]);
});

test('packages that a new environment could not get are told as well', async () => {
  const { environments, news } = listening();
  const wanted = { venvName: 'never', packages: ['no-such-thing'] };
  expect((await refusal(environments.create(wanted, steps))).code).toBe('PACKAGE_INSTALLATION_ERROR');
  expect(news()).toMatchObject([
    { action: 'install', environment: 'never', caller, error: 'PACKAGE_INSTALLATION_ERROR' },
  ]);
});

test('what runs bring about is told once, when it is made', async () => {
  const { environments, news } = listening();
  const wanted = { dependencies: ['cherry'], requiresPython: null };
  const name = await environments.provideInline(wanted, steps);
  expect(news()).toMatchObject([{ action: 'provide', environment: name, caller, lock: LOCK }]);
  expect(await environments.provideInline(wanted, steps)).toBe(name);
  expect(news()).toEqual([]);
});

test('what is cleaned is told with the reason', async () => {
  const { environments, news } = listening();
  await environments.create({ venvName: 'hurt', packages: ['apple'] });
  rmSync(join((await environments.show('hurt')).path!, 'lib'), { recursive: true });
  news();
  const fresh = listening();
  await fresh.environments.clean({}, steps);
  expect(fresh.news()).toEqual([
    { action: 'clean', environment: 'hurt', lock: null, caller, details: { reason: 'damaged' } },
  ]);
  await fresh.environments.clean({ dryRun: true, unusedForDays: 1 });
  expect(fresh.news()).toEqual([]);
});

test('what has to go for the environment of a run is told', async () => {
  await openEnvironments(world).provideInline({ dependencies: ['durian'], requiresPython: null });
  const { environments, news } = listening({ maxEnvironments: 0 });
  await refusal(environments.provideInline({ dependencies: ['extras-pkg'], requiresPython: null }));
  const [gone, ...more] = news();
  expect(more).toEqual([]);
  expect(gone).toMatchObject({ action: 'clean', environment: expect.stringMatching(/^inline-/), lock: LOCK });
  expect((await environments.list()).map(({ venvName }) => venvName)).not.toContain(gone!.environment);
});

test('a change that cannot be recorded is made, and answered with that', async () => {
  const onEvent = async () => {
    throw new PungiError('AUDIT_UNAVAILABLE', 'The disk is full.');
  };
  const silent = listening();
  await silent.environments.create({ venvName: 'unrecorded', packages: ['apple==1.0'] });
  const environments = openEnvironments(world, { onEvent });
  expect(await refusal(environments.install('unrecorded', ['apple==2.0']))).toMatchObject({
    code: 'AUDIT_UNAVAILABLE',
    message:
      'The environment "unrecorded" was changed (install), but that could not be recorded: The disk is full.',
  });
  expect((await environments.metadata('unrecorded'))!.packages).toEqual([{ name: 'apple', version: '2.0' }]);
  expect(await refusal(environments.install('unrecorded', ['no-such-thing']))).toMatchObject({
    code: 'AUDIT_UNAVAILABLE',
    message: expect.stringContaining('was not changed (install: PACKAGE_INSTALLATION_ERROR)'),
  });
  expect((await refusal(environments.delete({ venvName: 'unrecorded', confirm: true }))).code).toBe(
    'AUDIT_UNAVAILABLE',
  );
  expect((await environments.list()).map(({ venvName }) => venvName)).not.toContain('unrecorded');
});

test('closing waits until what it ended is told', async () => {
  const { environments, news } = listening();
  await environments.create({ venvName: 'interrupted' });
  news();
  const asked = world.index.requests.length;
  world.index.hang(true);
  const installing = refusal(environments.install('interrupted', ['shout'], steps));
  await until(() => world.index.requests.length > asked, 'the index is asked');
  await environments.close();
  expect(news()).toMatchObject([{ action: 'install', environment: 'interrupted', error: 'CANCELLED' }]);
  expect((await installing).code).toBe('CANCELLED');
  world.index.hang(false);
});
