import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Environments } from '../../src/environments/environments.js';
import { printed } from '../engine/pungi.js';
import { installedIn, openEnvironments, openWorld, refusal } from './world.js';

const world = await openWorld();
const pungi = world.start();
const { environments } = pungi;
await environments.create({ venvName: 'fruit', packages: ['banana', 'apple<2'] });

async function lockOf(name: string | undefined, of: Environments = environments) {
  return of.lockOf(await of.resolve(name));
}

describe('the lock of an environment', () => {
  test('is none where nothing was installed', async () => {
    expect(await lockOf(undefined)).toBeNull();
  });

  test('is a lock file, known by its hash', async () => {
    const lock = await lockOf('fruit');
    expect(lock!.text).toMatch(/^apple==1\.1 \\\n {4}--hash=sha256:[0-9a-f]{64}/m);
    expect(lock!.sha256).toBe(createHash('sha256').update(lock!.text).digest('hex'));
    await environments.import({ venvName: 'again', lock: lock!.text });
    expect(await installedIn(pungi, 'again')).toEqual(['apple==1.1', 'banana==1.0']);
    expect(await lockOf('again')).toEqual(lock);
  });

  test('depends on what code finds, and not on what people say', async () => {
    const before = await lockOf('fruit');
    await environments.clone({ from: 'fruit', to: 'fruit2', description: 'another' });
    await environments.setDescription('fruit', 'in other words');
    // Asked for in other words, too, and the same packages in the end.
    await environments.install('fruit2', ['apple==1.1']);
    for (const server of [environments, world.start().environments]) {
      expect(await lockOf('fruit', server)).toEqual(before);
      expect(await lockOf('fruit2', server)).toEqual(before);
    }
    await environments.install('fruit2', ['apple==2.0']);
    expect((await lockOf('fruit2'))!.sha256).not.toBe(before!.sha256);
  });

  test('is read once for each generation; one without it is damaged', async () => {
    await environments.create({ venvName: 'unlocked', packages: ['apple'] });
    const lock = await lockOf('unlocked');
    rmSync(`${(await environments.show('unlocked')).path}.lock`);
    expect(await lockOf('unlocked')).toEqual(lock);
    expect(await refusal(lockOf('unlocked', openEnvironments(world)))).toMatchObject({
      code: 'ENVIRONMENT_DAMAGED',
    });
  });
});

describe('an environment for a lock', () => {
  test('holds exactly that, is found again, and is cleaned like those of scripts', async () => {
    const { text } = (await lockOf('fruit'))!;
    const name = await environments.provideLocked(text);
    expect(name).toMatch(/^inline-[0-9a-f]{20}$/);
    expect(await installedIn(pungi, name)).toEqual(['apple==1.1', 'banana==1.0']);
    expect(await lockOf(name)).toEqual(await lockOf('fruit'));
    expect(await environments.show(name)).toMatchObject({ isInline: true });
    const asked = world.index.requests.length;
    expect(await environments.provideLocked(text)).toBe(name);
    expect(await world.start().environments.provideLocked(text)).toBe(name);
    expect(world.index.requests).toHaveLength(asked);
  });

  test('is the one that a script was given with the same packages', async () => {
    const code = '# /// script\n# dependencies = ["cherry"]\n# ///\nimport cherry';
    const { environment } = await pungi.run({ code });
    expect(await environments.provideLocked((await lockOf(environment!))!.text)).toBe(environment);
  });

  test('sees the packages of its interpreter if that of the lock did', async () => {
    const own = world.start({ DEFAULT_VENV_NAME: 'mine', SYSTEM_PACKAGES: 'true' });
    await own.environments.install(undefined, ['apple']);
    const lock = (await lockOf('mine', own.environments))!;
    const name = await own.environments.provideLocked(lock.text);
    expect(await own.environments.metadata(name)).toMatchObject({ inherit: true, inline: true });
    expect((await lockOf(name, own.environments))!.sha256).toBe(lock.sha256);
    expect(await printed(own, { code: 'import apple; print(apple.__version__)', venvName: name })).toBe(
      '2.0\n',
    );
  });

  test('is not made of anything that a lock file may not name', async () => {
    const hash = `--hash=sha256:${'0'.repeat(64)}`;
    const address = world.index.url.replace('/simple', '/files/apple/apple-2.0-py3-none-any.whl');
    for (const text of [
      `# pungi: {"requested":["apple"]}\napple @ ${address} ${hash}\n`,
      'apple==2.0\n',
      '--index-url http://127.0.0.1:1/\n',
    ]) {
      expect((await refusal(environments.provideLocked(text))).code).toBe('INVALID_INPUT');
    }
    const forged = await refusal(environments.provideLocked(`apple==2.0 ${hash}\n`));
    expect(forged.code).toBe('PACKAGE_INSTALLATION_ERROR');
  });
});
