import { describe, expect, test } from 'vitest';
import { PungiError } from '../../src/index.js';
import { until } from '../support/until.js';
import { openWorld } from './world.js';

const world = await openWorld();
const pungi = world.start({ MAX_CONCURRENT_EXECUTIONS: '1' });
const { environments } = pungi;

const failureOf = async (packages: string[]) => {
  await environments.create({ venvName: 'blame' }).catch(() => {});
  const error = await environments.install('blame', packages).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PungiError);
  const { message, details } = error as PungiError;
  const results = details['packages'] as { package: string; status: string; why: string | null }[];
  return { message, statuses: Object.fromEntries(results.map((one) => [one.package, one.status])) };
};

describe('a failed resolution blames only the culprits', () => {
  test('one of several that does not exist', async () => {
    const { message, statuses } = await failureOf(['apple', 'no-such-fruit', 'banana']);
    expect(statuses).toEqual({ apple: 'skipped', 'no-such-fruit': 'failed', banana: 'skipped' });
    expect(message).toMatch(/^no-such-fruit could not be resolved/);
  });
});

describe('lastUsed', () => {
  const lastUsed = async (venvName: string) => (await environments.show(venvName)).lastUsed;

  test('is null until code has run there: creating, showing, exporting and listing are no use', async () => {
    await environments.create({ venvName: 'idle' });
    await environments.show('idle');
    await environments.export('idle');
    await pungi.packages('idle');
    expect(await lastUsed('idle')).toBeNull();
    await pungi.run({ code: '1', venvName: 'idle' });
    await until(async () => (await lastUsed('idle')) !== null, 'the use is noted');
    const seen = await world.start().environments.show('idle');
    expect(seen.lastUsed).toBe(await lastUsed('idle'));
  });

  test('is noted anew for an environment that was deleted and made again', async () => {
    for (const round of [1, 2]) {
      await environments.create({ venvName: 'again' });
      expect(await lastUsed('again'), `round ${round}`).toBeNull();
      await pungi.run({ code: '1', venvName: 'again' });
      await until(async () => (await lastUsed('again')) !== null, 'the use is noted');
      await environments.delete({ venvName: 'again', confirm: true, wait: true });
    }
  });
});

describe('waitMs', () => {
  test('is the time behind other runs, also of one that is cancelled while it waits', async () => {
    const cancel = new AbortController();
    const long = pungi.run({ code: 'import time; time.sleep(1)' });
    const behind = pungi.run({ code: '1' });
    const given = pungi.run({ code: '1' }, { signal: cancel.signal });
    const first = await long;
    cancel.abort();
    const [second, third] = await Promise.all([behind, given]);
    expect(second.usage.waitMs).toBeGreaterThan(first.usage.wallMs / 2);
    expect(third.usage.waitMs).toBeGreaterThan(first.usage.wallMs / 2);
  });
});
