import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { printed, verdictOf } from '../engine/pungi.js';
import { until } from '../support/until.js';
import { INSTALLED, openWorld, refusal } from './world.js';

const world = await openWorld();
const pungi = world.start();
const { environments } = pungi;
const installed = async (venvName: string) =>
  (await printed(pungi, { code: INSTALLED, venvName })).split('\n').filter((line) => line !== '');
/** What is removed loses its name at once and its files a moment later. */
const expectNoLeftovers = async () => {
  expect(readdirSync(join(world.base, '.making'))).toEqual([]);
  await until(() => readdirSync(join(world.base, '.trash')).length === 0, 'the trash is emptied');
};

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
    expect(verdict.exception).toMatchObject({ missingModule: 'banana', missingPackage: 'banana' });
    expect(verdict.exception.hint).toContain('pungi env install empty banana');
  });

  test('is named in the outcome', async () => {
    expect((await pungi.run({ code: '1', venvName: 'fruit' })).environment).toBe('fruit');
    expect((await pungi.run({ code: '1' })).environment).toBe('default');
  });

  test('that does not exist is a verdict of its own', async () => {
    const outcome = await pungi.run({ code: '1', venvName: 'nowhere' });
    expect(verdictOf(outcome, 'no-environment')).toMatchObject({
      code: 'ENVIRONMENT_NOT_FOUND',
      message: expect.stringContaining('pungi env create nowhere'),
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

describe('installing', () => {
  test('adds to what is there, and a new wish for a package replaces the old one', async () => {
    await environments.create({ venvName: 'growing', packages: ['apple==1.0'] });
    const report = await environments.install('growing', ['banana', 'apple>=1.1']);
    expect(report.packages).toEqual([
      { package: 'banana', status: 'installed', version: '1.0', why: null },
      { package: 'apple>=1.1', status: 'installed', version: '2.0', why: null },
    ]);
    expect(report.removed).toEqual([{ name: 'apple', version: '1.0' }]);
    expect(await environments.show('growing')).toMatchObject({ requested: ['banana', 'apple>=1.1'] });
    expect(await installed('growing')).toEqual(['apple==2.0', 'banana==1.0']);
  });

  test('keeps the versions that are there where they will do', async () => {
    await environments.create({ venvName: 'steady', packages: ['apple<2'] });
    await environments.install('steady', ['apple']);
    const report = await environments.install('steady', ['banana']);
    expect(report.added).toEqual([{ name: 'banana', version: '1.0' }]);
    expect(await installed('steady')).toEqual(['apple==1.1', 'banana==1.0']);
    await environments.install('steady', ['apple'], { upgrade: true });
    expect(await installed('steady')).toEqual(['apple==2.0', 'banana==1.0']);
  });

  test('says of each package why it failed, and leaves everything as it was', async () => {
    await environments.create({ venvName: 'whole', packages: ['cherry'] });
    const before = readFileSync(join(world.base, 'whole', 'pungi.json'), 'utf8');
    const error = await refusal(environments.install('whole', ['banana', 'no-such-thing']));
    expect(error.code).toBe('PACKAGE_INSTALLATION_ERROR');
    const packages = error.details['packages'] as { package: string; why: string | null }[];
    expect(packages[0]).toMatchObject({ package: 'banana', status: 'failed', why: null });
    expect(packages[1]!.why).toContain('no-such-thing');
    expect(readFileSync(join(world.base, 'whole', 'pungi.json'), 'utf8')).toBe(before);
    expect(await installed('whole')).toEqual(['apple==1.1', 'cherry==1.0']);
    await expectNoLeftovers();
  });

  test('explains a conflict with what is there', async () => {
    const error = await refusal(environments.install('whole', ['clash']));
    expect(error.code).toBe('PACKAGE_INSTALLATION_ERROR');
    expect(String(error.details['explanation'])).toMatch(/cherry[\s\S]*apple/);
    expect(await installed('whole')).toEqual(['apple==1.1', 'cherry==1.0']);
  });

  test.each(['badhash', 'broken-wheel', 'hijack', 'own-python', 'rehome', 'onlysource', 'needs-new-python'])(
    'refuses %s whole',
    async (name) => {
      const error = await refusal(environments.install('whole', [name]));
      expect(error.code).toBe('PACKAGE_INSTALLATION_ERROR');
      expect(await installed('whole')).toEqual(['apple==1.1', 'cherry==1.0']);
      await expectNoLeftovers();
    },
  );

  test('shares files with other environments', async () => {
    await environments.create({ venvName: 'many1', packages: ['many'] });
    await environments.create({ venvName: 'many2', packages: ['many'] });
    const { bytes, sharedBytes } = JSON.parse(readFileSync(join(world.base, 'many2', 'pungi.json'), 'utf8'));
    expect(sharedBytes).toBeGreaterThan(bytes / 2);
  });

  test('compiles, so that no run has to', async () => {
    const { path } = await environments.show('many2');
    const [lib] = readdirSync(join(path!, 'lib'));
    const cache = join(path!, 'lib', lib!, 'site-packages', 'many', '__pycache__');
    expect(readdirSync(cache).length).toBeGreaterThan(290);
    expect(statSync(join(cache, readdirSync(cache)[0]!)).nlink).toBeGreaterThan(2);
  });

  test('puts scripts in their place, that know their interpreter', async () => {
    await environments.create({ venvName: 'scripts', packages: ['scripted'] });
    const { path } = await environments.show('scripts');
    const script = readdirSync(join(path!, 'bin')).find((name) => name.includes('script'))!;
    expect(readFileSync(join(path!, 'bin', script), 'utf8').split('\n')[0]).toBe(`#!${path}/bin/python`);
    const code = `import subprocess, sys; print(subprocess.run([sys.prefix + "/bin/${script}"]).returncode)`;
    expect(await printed(pungi, { code, venvName: 'scripts' })).toMatch(/0\n$/);
  });

  test('never runs the code of packages outside of the sandbox, whatever is done later', async () => {
    await environments.create({ venvName: 'pth', packages: ['pthed'] });
    await environments.install('pth', ['apple']);
    await environments.clone({ from: 'pth', to: 'pth2' });
    await environments.export('pth');
    await environments.uninstall('pth', ['apple']);
    const files = readdirSync(world.base, { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => name.endsWith('pthed_start.py')).length).toBeGreaterThan(1);
    expect(files.filter((name) => name.endsWith('pthed-was-here'))).toEqual([]);
    expect(await printed(pungi, { code: 'import sys; print(sys.pthed_ran)', venvName: 'pth2' })).toBe(
      'True\n',
    );
  });

  test('beyond the allowed size leaves nothing', async () => {
    const small = world.start({ MAX_ENVIRONMENT_MB: '5' });
    const error = await refusal(small.environments.create({ venvName: 'large', packages: ['native-free'] }));
    expect(error.message).toContain('MAX_ENVIRONMENT_MB');
    expect(existsSync(join(world.base, 'large'))).toBe(false);
    await expectNoLeftovers();
  });

  test('that is cancelled leaves nothing', async () => {
    world.index.hang(true);
    const stop = new AbortController();
    const creating = refusal(
      environments.create(
        { venvName: 'stopped', packages: ['durian'] },
        { signal: stop.signal, onStep: () => stop.abort() },
      ),
    );
    stop.abort();
    expect((await creating).name).toMatch(/Abort|Pungi/);
    world.index.hang(false);
    expect(existsSync(join(world.base, 'stopped'))).toBe(false);
    await expectNoLeftovers();
  });

  test('that takes too long says which limit it was', async () => {
    const hasty = world.start({ PACKAGE_TIMEOUT_MS: '300' });
    world.index.hang(true);
    const error = await refusal(
      hasty.environments.create({ venvName: 'late', packages: ['extras-pkg[fruit]'] }),
    );
    world.index.hang(false);
    expect(error.code).toBe('PACKAGE_INSTALLATION_ERROR');
    expect(error.message).toContain('PACKAGE_TIMEOUT_MS');
  });
});

describe('removing', () => {
  test('takes along what nothing else needs', async () => {
    await environments.create({ venvName: 'shrinking', packages: ['banana', 'scripted'] });
    const report = await environments.uninstall('shrinking', ['banana']);
    expect(report.packages).toEqual([{ package: 'banana', status: 'removed', version: null, why: null }]);
    expect(report.removed.map(({ name }) => name).sort()).toEqual(['apple', 'banana']);
    expect(await installed('shrinking')).toEqual(['scripted==1.0']);
    const { verdict } = await pungi.run({ code: 'import banana', venvName: 'shrinking' });
    expect(verdict.kind).toBe('python-error');
  });

  test('is refused for what others need, and for what is not there', async () => {
    await environments.create({ venvName: 'needing', packages: ['banana'] });
    expect(await refusal(environments.uninstall('needing', ['apple']))).toMatchObject({
      code: 'PACKAGE_INSTALLATION_ERROR',
      message: 'banana needs apple: remove that as well.',
    });
    expect(await refusal(environments.uninstall('needing', ['cherry']))).toMatchObject({
      code: 'INVALID_INPUT',
    });
    expect(await installed('needing')).toEqual(['apple==2.0', 'banana==1.0']);
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

describe('folders that are not what they should be', () => {
  test('a damaged environment is told, not served, and made anew on request', async () => {
    await environments.create({ venvName: 'hurt', packages: ['apple'] });
    writeFileSync(join(world.base, 'hurt', 'pungi.json'), '{"half":');
    expect(await environments.show('hurt')).toMatchObject({ state: 'damaged' });
    expect(verdictOf(await pungi.run({ code: '1', venvName: 'hurt' }), 'no-environment').code).toBe(
      'ENVIRONMENT_DAMAGED',
    );
    await environments.create({ venvName: 'hurt' });
    expect(await installed('hurt')).toEqual([]);
  });

  test('a folder that is no environment is nobody’s business', async () => {
    mkdirSync(join(world.base, 'photos'));
    writeFileSync(join(world.base, 'photos', 'cat.png'), 'meow');
    expect((await environments.list()).map(({ venvName }) => venvName)).not.toContain('photos');
    expect((await refusal(environments.create({ venvName: 'photos' }))).code).toBe('ENVIRONMENT_EXISTS');
    expect((await refusal(environments.delete({ venvName: 'photos', confirm: true }))).code).toBe(
      'ENVIRONMENT_NOT_FOUND',
    );
    await environments.clean();
    expect(readFileSync(join(world.base, 'photos', 'cat.png'), 'utf8')).toBe('meow');
  });

  test('a link is not followed, not replaced and not an environment', async () => {
    symlinkSync(join(world.base, 'fruit'), join(world.base, 'linked'));
    expect(verdictOf(await pungi.run({ code: '1', venvName: 'linked' }), 'no-environment').code).toBe(
      'ENVIRONMENT_NOT_FOUND',
    );
    expect((await refusal(environments.create({ venvName: 'linked' }))).code).toBe('ENVIRONMENT_EXISTS');
    expect(await environments.clean()).toMatchObject({ removed: [] });
    expect(await installed('fruit')).toEqual(['apple==1.1', 'banana==1.0']);
  });

  test('without its packages an environment is damaged', async () => {
    await environments.create({ venvName: 'gutted', packages: ['apple'] });
    const { path } = await environments.show('gutted');
    rmSync(join(path!, 'lib'), { recursive: true });
    expect(await world.start().environments.show('gutted')).toMatchObject({ state: 'damaged' });
  });
});

describe('clone, export and import', () => {
  test('a clone is its own environment and shares its files', async () => {
    const clone = await environments.clone({ from: 'fruit', to: 'fruit2' });
    expect(clone).toMatchObject({ venvName: 'fruit2', requested: ['banana', 'apple<2'], packageCount: 2 });
    await environments.install('fruit2', ['apple==2.0']);
    expect(await installed('fruit')).toEqual(['apple==1.1', 'banana==1.0']);
    expect(await installed('fruit2')).toEqual(['apple==2.0', 'banana==1.0']);
  });

  test('a clone needs a name of its own', async () => {
    expect((await refusal(environments.clone({ from: 'fruit', to: 'fruit' }))).code).toBe(
      'ENVIRONMENT_EXISTS',
    );
    expect((await refusal(environments.clone({ from: 'fruit', to: 'Fruit' }))).code).toBe(
      'ENVIRONMENT_EXISTS',
    );
  });

  test('a clone takes next to no disk', async () => {
    await environments.clone({ from: 'many1', to: 'many3' });
    const { bytes, sharedBytes } = JSON.parse(readFileSync(join(world.base, 'many3', 'pungi.json'), 'utf8'));
    expect(sharedBytes).toBeGreaterThan(bytes * 0.9);
  });

  test('a lock file brings back exactly the same', async () => {
    const lock = await environments.export('fruit');
    expect(lock).toMatch(/^apple==1\.1 \\\n {4}--hash=sha256:[0-9a-f]{64}/m);
    await environments.import({ venvName: 'again', lock });
    expect(await installed('again')).toEqual(['apple==1.1', 'banana==1.0']);
    expect(await environments.show('again')).toMatchObject({ requested: ['banana', 'apple<2'] });
    expect(await environments.export('again')).toBe(lock);
  });

  test('a lock file whose hash is not that of the file is refused', async () => {
    const lock = (await environments.export('fruit')).replaceAll(
      /sha256:[0-9a-f]{64}/g,
      `sha256:${'0'.repeat(64)}`,
    );
    expect((await refusal(environments.import({ venvName: 'forged', lock }))).code).toBe(
      'PACKAGE_INSTALLATION_ERROR',
    );
    expect(existsSync(join(world.base, 'forged'))).toBe(false);
  });
});
