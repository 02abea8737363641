import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { PungiError } from '../../../pungi/src/index.js';
import { listeningLogger, startPungi } from '../engine/pungi.js';
import { openEnvironments, openWorld, refusal } from './world.js';

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

test('packages are not tried one by one where the index cannot be reached', async () => {
  const counted = join(world.base, 'counting-uv');
  const calls = join(world.base, 'calls');
  writeFileSync(counted, `#!/bin/sh\necho "$@" >> ${calls}\nexec ${world.settings['PUNGI_UV']} "$@"\n`);
  chmodSync(counted, 0o755);
  const before = process.env['UV_DEFAULT_INDEX'];
  process.env['UV_DEFAULT_INDEX'] = 'http://127.0.0.1:9/simple';
  try {
    const alone = openEnvironments(world, { uv: counted });
    const names = ['one-fruit', 'two-fruit', 'three-fruit'];
    const { message, details } = await refusal(alone.create({ venvName: 'offline', packages: names }));
    expect(message).toMatch(/cannot be reached \(127\.0\.0\.1:9\)/);
    expect(details['packages']).toMatchObject(names.map((name) => ({ package: name, status: 'failed' })));
    const resolved = readFileSync(calls, 'utf8')
      .split('\n')
      .filter((line) => line.includes('compile'));
    // For its settings, from the cache, and with the index.
    expect(resolved.length).toBeLessThanOrEqual(3);
  } finally {
    process.env['UV_DEFAULT_INDEX'] = before;
  }
});

test('what PRELOAD_MODULES names and the default environment has is no error, though the interpreter lacks it', async () => {
  await environments.install(undefined, ['apple']);
  const logger = listeningLogger();
  const settings = { ...world.settings, PRELOAD_MODULES: 'apple' };
  const preloading = startPungi(settings, logger);
  try {
    const { value } = await preloading.run({ code: 'import sys; "apple" in sys.modules' });
    expect(value?.json).toBe(true);
    await preloading.ready();
    expect(logger.entries.filter(({ level }) => level === 'error')).toEqual([]);
  } finally {
    await preloading.close();
    await environments.delete({ venvName: 'default', confirm: true, confirmDefault: true, wait: true });
  }
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

  test('is noted for the default environment before anything is installed there, by a process that ends at once', async () => {
    expect(await lastUsed('default')).toBeNull();
    const brief = world.start();
    await brief.run({ code: '1' });
    await brief.close();
    const used = await lastUsed('default');
    expect(Date.now() - Date.parse(used ?? '')).toBeLessThan(600_000);
    await environments.install(undefined, ['apple']);
    expect(await lastUsed('default')).toBe(used);
    await pungi.run({ code: '1' });
    await until(async () => (await lastUsed('default')) !== used, 'the use is noted');
    await environments.delete({ venvName: 'default', confirm: true, confirmDefault: true, wait: true });
    expect(await lastUsed('default')).toBe(used);
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
