import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { installedIn, openWorld, refusal } from './world.js';

const world = await openWorld();
const pungi = world.start();
const { environments } = pungi;
const installed = (venvName: string) => installedIn(pungi, venvName);
await environments.create({ venvName: 'fruit', packages: ['banana', 'apple<2'] });

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
    await environments.create({ venvName: 'many1', packages: ['many'] });
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
