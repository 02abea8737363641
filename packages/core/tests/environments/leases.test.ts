import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import type { Pungi } from '../../../pungi/src/index.js';
import { expectOk, printed, temporaryFolder, verdictOf } from '../engine/pungi.js';
import { openWorld, refusal } from './world.js';

/** Runs under this profile see a folder, by which a test reports to them that they may go on. */
const shown = temporaryFolder();
mkdirSync(join(shown, 'signals'));
const profiles = join(shown, 'profiles.yaml');
writeFileSync(profiles, 'profiles:\n  watching:\n    workspace: [{ name: signals, path: ./signals }]\n');

const world = await openWorld();
const settings = { PROFILES_FILE: profiles };
const pungi = world.start(settings);
const { environments } = pungi;
const other = world.start(settings);

const APPLE = 'import apple; print(apple.__version__)';
const appleIn = (server: Pungi, venvName: string) => printed(server, { code: APPLE, venvName });
const generationsOf = (venvName: string) => {
  const folder = join(world.base, venvName);
  return existsSync(folder) ? readdirSync(folder).filter((entry) => /^g\w+$/.test(entry)) : [];
};

/** A run that has begun, imports apple when it is told to go on, and ends then. */
async function startPatient(server: Pungi, venvName: string, signal = `${Math.random()}`) {
  const code = `
import os, time
print("begun", flush=True)
while not os.path.exists("data/signals/${signal}"): time.sleep(0.01)
${APPLE}
`;
  let hasBegun = false;
  const ended = server.run(
    { code, venvName, profile: 'watching', limits: { timeoutMs: 60_000 } },
    { onLine: () => (hasBegun = true) },
  );
  await until(() => hasBegun, 'the run has begun');
  return {
    goOn: async () => {
      writeFileSync(join(shown, 'signals', signal), '');
      const outcome = await ended;
      expectOk(outcome);
      return outcome.stdout.text;
    },
  };
}

describe('a run while packages are installed', () => {
  afterEach(() => world.index.hang(false));

  test.each([
    ['in the same server', 'cherry', () => pungi],
    ['in a server that never ran in the environment', 'banana', () => other],
  ])('does not wait for them (%s)', async (_, wanted, serverOf) => {
    const server = serverOf();
    const venvName = `with-${wanted}`;
    await environments.create({ venvName, packages: ['apple==1.1'] });
    const asked = world.index.requests.length;
    world.index.hang(true);
    let isInstalled = false;
    const installed = environments.install(venvName, [wanted]).finally(() => (isInstalled = true));
    await until(() => world.index.requests.length > asked, 'the index is asked');
    expect(await appleIn(server, venvName)).toBe('1.1\n');
    expect(isInstalled).toBe(false);
    world.index.hang(false);
    await installed;
    expect(await printed(server, { code: `import ${wanted}; print("there")`, venvName })).toBe('there\n');
  });

  test('but another change of the environment does, reports it once, and can be cancelled', async () => {
    await environments.create({ venvName: 'taken', packages: ['apple==1.1'] });
    const asked = world.index.requests.length;
    world.index.hang(true);
    const installed = environments.install('taken', ['durian']);
    await until(() => world.index.requests.length > asked, 'the index is asked');
    const cancel = new AbortController();
    const steps: string[] = [];
    const onStep = (step: string) => {
      steps.push(step);
      cancel.abort(new Error('enough'));
    };
    const waiting = other.environments.setDescription('taken', 'x', { onStep, signal: cancel.signal });
    expect((await refusal(waiting)).message).toBe('enough');
    expect(steps).toEqual(['Waiting for another change of the environment "taken" to end.']);
    expect(await refusal(other.environments.delete({ venvName: 'taken', confirm: true }))).toMatchObject({
      code: 'ENVIRONMENT_IN_USE',
      message: expect.stringContaining('"taken" is being changed'),
    });
    await other.environments.create({ venvName: 'beside' });
    world.index.hang(false);
    await installed;
  });
});

describe('a generation that is not in force', () => {
  test('goes with the change where nobody uses it', async () => {
    await environments.create({ venvName: 'unused', packages: ['apple==1.0'] });
    await environments.install('unused', ['apple==2.0']);
    expect(generationsOf('unused')).toHaveLength(1);
  });

  test('goes with the workers of the server that changed it', async () => {
    await environments.create({ venvName: 'warm', packages: ['apple==1.0'] });
    expect(await appleIn(pungi, 'warm')).toBe('1.0\n');
    await environments.install('warm', ['apple==2.0']);
    await until(() => generationsOf('warm').length === 1, 'the generation is gone');
    expect(await appleIn(pungi, 'warm')).toBe('2.0\n');
  });

  test('stays whole until its last run has ended, and then goes by itself', async () => {
    await environments.create({ venvName: 'running', packages: ['apple==1.0'] });
    const run = await startPatient(pungi, 'running');
    await environments.install('running', ['apple==2.0']);
    expect(await appleIn(pungi, 'running')).toBe('2.0\n');
    expect(generationsOf('running')).toHaveLength(2);
    expect(await run.goOn()).toBe('begun\n1.0\n');
    await until(() => generationsOf('running').length === 1, 'the generation is gone');
  });

  test.each([
    ['the next change', () => environments.setDescription('served', 'x')],
    ['a cleaning', () => environments.clean()],
    ['the start of a server', async () => void world.start()],
  ])('that another server serves stays, and goes with %s after its end', async (_, collect) => {
    if (!existsSync(join(world.base, 'served'))) await environments.create({ venvName: 'served' });
    await environments.install('served', ['apple==1.0']);
    const server = world.start();
    expect(await appleIn(server, 'served')).toBe('1.0\n');
    await environments.install('served', ['apple==2.0']);
    await collect();
    expect(generationsOf('served')).toHaveLength(2);
    await server.close();
    await collect();
    await until(() => generationsOf('served').length === 1, 'the generation is gone');
    expect(await appleIn(pungi, 'served')).toBe('2.0\n');
  });
});

describe('a deleted environment', () => {
  test('that another server keeps warm is gone for everybody, and its name is free', async () => {
    await environments.create({ venvName: 'again', packages: ['apple==1.0'] });
    expect(await appleIn(other, 'again')).toBe('1.0\n');
    await environments.delete({ venvName: 'again', confirm: true });
    for (const server of [pungi, other]) {
      const { verdict } = await server.run({ code: '1', venvName: 'again' });
      expect(verdict).toMatchObject({ code: 'ENVIRONMENT_NOT_FOUND' });
      expect((await server.environments.list()).map(({ venvName }) => venvName)).not.toContain('again');
    }
    await environments.create({ venvName: 'again', packages: ['apple==2.0'] });
    for (const server of [pungi, other]) expect(await appleIn(server, 'again')).toBe('2.0\n');
    // The other server has retired its workers of then.
    await until(async () => {
      await environments.clean();
      return generationsOf('again').length === 1;
    }, 'the former generation is gone');
  });

  test('leaves no folder once its workers are gone', async () => {
    await environments.create({ venvName: 'left', packages: ['apple'] });
    await appleIn(pungi, 'left');
    await environments.delete({ venvName: 'left', confirm: true });
    await until(() => !existsSync(join(world.base, 'left')), 'the folder is gone');
  });

  test('is deleted only when the run of another server has ended, in whichever generation it is', async () => {
    await environments.create({ venvName: 'busy', packages: ['apple==1.0'] });
    const run = await startPatient(other, 'busy');
    await environments.install('busy', ['apple==2.0']);
    const refused = await refusal(environments.delete({ venvName: 'busy', confirm: true }));
    expect(refused.code).toBe('ENVIRONMENT_IN_USE');
    expect(await run.goOn()).toBe('begun\n1.0\n');
    await environments.delete({ venvName: 'busy', confirm: true });
  });
});

describe('a run that waits for its turn', () => {
  /** Queues a run, lets something happen, and gives what became of the run. */
  async function queued(venvName: string, meanwhile: () => Promise<unknown>) {
    const server = world.start({ ...settings, MAX_CONCURRENT_EXECUTIONS: '1' });
    await environments.create({ venvName, packages: ['apple==1.0'] });
    await environments.create({ venvName: `${venvName}-first`, packages: ['apple==1.0'] });
    const first = await startPatient(server, `${venvName}-first`);
    const second = server.run({ code: APPLE, venvName });
    await until(async () => (await server.health()).queue.waiting === 1, 'the second run waits');
    await meanwhile();
    await first.goOn();
    return second;
  }

  test('finds its environment as it is by then, where it was changed', async () => {
    const outcome = await queued('changed', () => environments.install('changed', ['apple==2.0']));
    expectOk(outcome);
    expect(outcome.stdout.text).toBe('2.0\n');
  });

  test('is refused where its environment was deleted', async () => {
    const outcome = await queued('deleted', () =>
      environments.delete({ venvName: 'deleted', confirm: true }),
    );
    expect(verdictOf(outcome, 'no-environment').code).toBe('ENVIRONMENT_NOT_FOUND');
  });
});

test('a clone is whole, whatever becomes of its original meanwhile', async () => {
  await environments.create({ venvName: 'original', packages: ['durian'] });
  const cloned = environments.clone({ from: 'original', to: 'clone' });
  await Promise.all([cloned, other.environments.install('original', ['apple==1.1'])]);
  await other.environments.delete({ venvName: 'original', confirm: true });
  expect(await printed(pungi, { code: 'import durian; print("whole")', venvName: 'clone' })).toBe('whole\n');
});
