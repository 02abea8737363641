import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TrailWorld } from './trail-world.js';

let world: TrailWorld;
beforeEach(() => {
  world = new TrailWorld();
});
afterEach(() => world.end());

describe('the configuration', () => {
  const settings = { maxMemoryMb: 512, allowedEnv: ['MODE'], alertWebhook: undefined as string | undefined };

  test('is recorded whole at first, and then only where something changed', async () => {
    const recorder = world.record();
    await recorder.configuration(settings);
    await recorder.configuration({ ...settings });
    await recorder.configuration({ ...settings, maxMemoryMb: 256 });
    const [, first, second, ...rest] = await world.entries();
    expect(rest).toEqual([]);
    expect(first!.data).toMatchObject({ change: 'the first', before: null });
    expect(second!.data).toMatchObject({
      change: 'maxMemoryMb',
      before: { maxMemoryMb: 512 },
      after: { maxMemoryMb: 256 },
      settings: { maxMemoryMb: 256, allowedEnv: ['MODE'] },
    });
  });

  test('is compared with that of the same client, by a recorder that was opened later, too', async () => {
    await world.record().configuration(settings);
    const later = world.record();
    await later.configuration(settings, { client: 'another', token: null });
    await later.configuration(settings);
    expect((await world.entries()).map(({ kind }) => kind)).toEqual([
      'server',
      'configuration',
      'configuration',
    ]);
  });

  test('keeps of an address only where it leads', async () => {
    const secrets = ['https://ann:hunter2@hooks.example/services/T0/B0?key=s3cret', 'http://plain.example'];
    const recorder = world.record();
    await recorder.configuration({ ...settings, alertWebhook: secrets[0], profiles: [{ hook: secrets[1] }] });
    const { data } = await world.newest();
    expect(data).toMatchObject({ settings: { alertWebhook: 'https://hooks.example/…' } });
    expect(JSON.stringify(data)).not.toMatch(/hunter2|s3cret|services/);
    expect(JSON.stringify(data)).toContain('http://plain.example');
  });

  test.each([
    ['six@https://ann:S3CRET@host.example/six.whl', 'six@https://host.example/…'],
    ['six @ git+https://S3CRET@host.example:8443/six.git@v1', 'six @ git+https://host.example:8443/…'],
    ['ssh://git@[::1]:22/S3CRET and redis://:S3CRET@cache', 'ssh://[::1]:22/… and redis://cache'],
    ['https://ann:S3/CRET@host.example', 'https://…'],
    ['https://host.example?key=S3CRET', 'https://host.example/…'],
    ['no address: //S3 and a:b', 'no address: //S3 and a:b'],
  ])('keeps of the addresses in %j only where they lead', async (text, kept) => {
    await world.record().configuration({ packages: [text] });
    expect((await world.newest()).data).toMatchObject({ settings: { packages: [kept] } });
    expect(JSON.stringify(await world.entries())).not.toContain('CRET');
  });
});
