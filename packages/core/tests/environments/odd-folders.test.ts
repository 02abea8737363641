import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { verdictOf } from '../engine/pungi.js';
import { installedIn, openWorld, refusal } from './world.js';

const world = await openWorld();
const pungi = world.start();
const { environments } = pungi;
const installed = (venvName: string) => installedIn(pungi, venvName);
await environments.create({ venvName: 'fruit', packages: ['banana', 'apple<2'] });

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

  test('a file in the place of the folder of all environments is reported to whoever changes one, and runs go on', async () => {
    const file = join(world.base, 'file');
    writeFileSync(file, '');
    const lost = world.start({ VENVS_BASE_PATH: file });
    expect(verdictOf(await lost.run({ code: '1' }), 'ok')).toEqual({ kind: 'ok' });
    expect(await lost.environments.list()).toMatchObject([{ venvName: 'default', packageCount: 0 }]);
    const { code, message } = await refusal(lost.environments.create({ venvName: 'a' }));
    expect({ code, message }).toEqual({
      code: 'CONFIGURATION_ERROR',
      message: `The folder for environments, ${file}, cannot be written (ENOTDIR); choose another with VENVS_BASE_PATH.`,
    });
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
