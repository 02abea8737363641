import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { printed } from '../engine/pungi.js';
import { expectNoLeftovers, installedIn, openWorld, refusal } from './world.js';

const world = await openWorld();
const pungi = world.start();
const { environments } = pungi;
const installed = (venvName: string) => installedIn(pungi, venvName);

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
    expect(packages[0]).toMatchObject({ package: 'banana', status: 'skipped', why: null });
    expect(packages[1]!.why).toContain('no-such-thing');
    expect(readFileSync(join(world.base, 'whole', 'pungi.json'), 'utf8')).toBe(before);
    expect(await installed('whole')).toEqual(['apple==1.1', 'cherry==1.0']);
    await expectNoLeftovers(world);
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
      await expectNoLeftovers(world);
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
    await expectNoLeftovers(world);
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
    await expectNoLeftovers(world);
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
