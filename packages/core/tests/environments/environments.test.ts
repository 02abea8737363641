import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { printed, verdictOf } from '../engine/pungi.js';
import { installedIn, openWorld, refusal } from './world.js';

const world = await openWorld();
const pungi = world.start();
const { environments } = pungi;
const installed = (venvName: string) => installedIn(pungi, venvName);

describe('an environment', () => {
  test('is made empty, listed and shown', async () => {
    const { environment, report } = await environments.create({
      venvName: 'empty',
      description: 'nothing yet',
    });
    expect(report).toBeNull();
    expect(environment).toMatchObject({
      venvName: 'empty',
      description: 'nothing yet',
      state: 'ready',
      isDefault: false,
      isInline: false,
      packageCount: 0,
      requested: [],
    });
    expect((await environments.list()).map(({ venvName }) => venvName)).toEqual(['default', 'empty']);
    expect(await environments.show('empty')).toEqual(environment);
    expect(await installed('empty')).toEqual([]);
  });

  test('that is empty needs neither a tool nor an index', async () => {
    const bare = world.start({ PUNGI_UV: join(world.base, 'no-such-uv') });
    await bare.environments.create({ venvName: 'bare' });
    expect(await printed(bare, { code: 'print(1)', venvName: 'bare' })).toBe('1\n');
  });

  test('holds what it was asked for and what that needs, and nothing of any other', async () => {
    const { environment, report } = await environments.create({
      venvName: 'fruit',
      packages: ['banana', 'apple<2'],
    });
    expect(environment.requested).toEqual(['banana', 'apple<2']);
    expect(report).toMatchObject({
      venvName: 'fruit',
      packages: [
        { package: 'banana', status: 'installed', version: '1.0', why: null },
        { package: 'apple<2', status: 'installed', version: '1.1', why: null },
      ],
      removed: [],
    });
    expect(await installed('fruit')).toEqual(['apple==1.1', 'banana==1.0']);
    const verdict = verdictOf(await pungi.run({ code: 'import banana', venvName: 'empty' }), 'python-error');
    // Nobody knows which package that is, if any.
    expect(verdict.exception).toMatchObject({ missingModule: 'banana', missingPackage: null });
    expect(verdict.exception.hint).toContain('environments.install("empty"');
  });

  test('is named in the outcome', async () => {
    expect((await pungi.run({ code: '1', venvName: 'fruit' })).environment).toBe('fruit');
    expect((await pungi.run({ code: '1' })).environment).toBe('default');
  });

  test('that does not exist is a verdict of its own', async () => {
    const outcome = await pungi.run({ code: '1', venvName: 'nowhere' });
    expect(verdictOf(outcome, 'no-environment')).toMatchObject({
      code: 'ENVIRONMENT_NOT_FOUND',
      message: expect.stringContaining('environments.create({ venvName: "nowhere" })'),
    });
    const { verdict } = await pungi.run({ code: '1', venvName: 'friut' });
    expect(verdict).toMatchObject({ message: 'There is no environment "friut". Did you mean "fruit"?' });
  });

  test('is not made twice, nor under a name that differs in case only', async () => {
    expect(await refusal(environments.create({ venvName: 'fruit' }))).toMatchObject({
      code: 'ENVIRONMENT_EXISTS',
    });
    const { code, message } = await refusal(environments.create({ venvName: 'FRUIT' }));
    expect(code).toBe('ENVIRONMENT_EXISTS');
    expect(message).toContain('case only');
  });

  test('can get another description, which a new server sees', async () => {
    await environments.setDescription('empty', 'still nothing');
    expect(await world.start().environments.show('empty')).toMatchObject({ description: 'still nothing' });
  });

  test('has its own python and packages in sys.path, and is read-only', async () => {
    const code = `
import sys, apple
print(sys.prefix != sys.base_prefix)
try:
    open(apple.__file__, "a")
except OSError as error:
    print(type(error).__name__)
`;
    expect(await printed(pungi, { code, venvName: 'fruit' })).toMatch(/^True\n(OSError|PermissionError)\n$/);
  });
});

describe('deleting', () => {
  test('asks for confirmation, and twice for the default one', async () => {
    await environments.create({ venvName: 'doomed' });
    const kept = await refusal(environments.delete({ venvName: 'doomed', confirm: false }));
    expect(kept.code).toBe('INVALID_INPUT');
    await environments.delete({ venvName: 'doomed', confirm: true });
    expect(existsSync(join(world.base, 'doomed'))).toBe(false);
    const own = world.start({ DEFAULT_VENV_NAME: 'mine' });
    await own.environments.install(undefined, ['apple']);
    expect((await refusal(own.environments.delete({ venvName: 'mine', confirm: true }))).message).toContain(
      'second time',
    );
    await own.environments.delete({ venvName: 'mine', confirm: true, confirmDefault: true });
    expect(await printed(own, { code: 'print("still runs")' })).toBe('still runs\n');
  });

  test('is refused while a run uses it, or waits for the run, as it is asked to', async () => {
    await environments.create({ venvName: 'busy' });
    let started = () => {};
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    const stop = new AbortController();
    const run = pungi.run(
      { code: 'print("on"); import time; time.sleep(60)', venvName: 'busy' },
      { signal: stop.signal, onLine: () => started() },
    );
    await running;
    const other = world.start();
    for (const server of [pungi, other]) {
      const refused = await refusal(server.environments.delete({ venvName: 'busy', confirm: true }));
      expect(refused.code).toBe('ENVIRONMENT_IN_USE');
    }
    const steps: string[] = [];
    const deleted = other.environments.delete(
      { venvName: 'busy', confirm: true, wait: true },
      {
        onStep: (step) => {
          steps.push(step);
          stop.abort();
        },
      },
    );
    await deleted;
    expect((await run).verdict.kind).toBe('cancelled');
    expect(steps).toEqual(['Waiting until the environment "busy" is not in use.']);
    expect(verdictOf(await pungi.run({ code: '1', venvName: 'busy' }), 'no-environment').code).toBe(
      'ENVIRONMENT_NOT_FOUND',
    );
  });
});

describe('a change', () => {
  test('is seen by every server, and runs in flight end as they began', async () => {
    const other = world.start();
    await environments.create({ venvName: 'moving', packages: ['apple==1.0'] });
    const version = { code: 'import apple; print(apple.__version__)', venvName: 'moving' };
    expect(await printed(other, version)).toBe('1.0\n');
    await environments.install('moving', ['apple==2.0']);
    expect(await printed(other, version)).toBe('2.0\n');
    expect(await printed(pungi, version)).toBe('2.0\n');
  });
});
