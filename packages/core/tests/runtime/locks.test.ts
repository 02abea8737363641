import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { lockFile } from '../../src/runtime/file-lock.js';
import { LockWorld, python } from './lock-world.js';

let world: LockWorld;
beforeEach(() => {
  world = new LockWorld();
});
afterEach(() => world.end());

const NOW = { waitMs: 0 };

describe('a lock', () => {
  test('is shared by many', async () => {
    await world.acquire({ mode: 'shared' });
    await world.acquire({ mode: 'shared', ...NOW });
  });

  test.each(['shared', 'exclusive'] as const)(
    'that one has alone is waited for (%s), which is reported once',
    async (mode) => {
      const first = await world.acquire();
      const second = await world.wait({ mode });
      expect(second.lock).toBeUndefined();
      await first.release();
      await until(() => second.lock, 'the second has it');
      expect(second.reports()).toBe(1);
    },
  );

  test('that many share is waited for by who wants it alone', async () => {
    const readers = [await world.acquire({ mode: 'shared' }), await world.acquire({ mode: 'shared' })];
    const writer = await world.wait();
    await readers[0]!.release();
    expect(await world.try({ mode: 'exclusive', ...NOW })).toBe('busy');
    await readers[1]!.release();
    await until(() => writer.lock, 'the writer has it');
  });

  test('is free for everybody as soon as release() resolves, however often it is called', async () => {
    for (let round = 0; round < 3; round += 1) {
      const lock = await world.acquire(NOW);
      await Promise.all([lock.release(), lock.release()]);
      expect(lock.lost.aborted).toBe(false);
    }
  });

  test('is busy for who does not want to wait', async () => {
    await world.acquire({ mode: 'shared' });
    expect(await world.try({ mode: 'exclusive', ...NOW })).toBe('busy');
    await world.acquire({ mode: 'shared', ...NOW });
  });

  test('that is released in time is not busy', async () => {
    const first = await world.acquire();
    const second = world.try({ waitMs: 60_000 });
    await first.release();
    expect(await second).toMatchObject({ lost: { aborted: false } });
  });

  test('knows nothing of others', async () => {
    await world.acquire();
    await world.acquire({ path: `${world.lock}-other`, ...NOW });
  });
});

describe('who waits', () => {
  test('and gives up is in nobody’s way', async () => {
    const shared = await world.acquire({ mode: 'shared' });
    const cancel = new AbortController();
    const writer = await world.wait({}, cancel.signal);
    cancel.abort(new Error('enough'));
    await until(() => writer.error, 'it has given up');
    expect(writer.error).toEqual(new Error('enough'));
    await shared.release();
    await world.acquire(NOW);
  });

  test('and has given up before asks for nothing', async () => {
    const signal = AbortSignal.abort(new Error('before'));
    await expect(world.acquire({}, { signal })).rejects.toThrow('before');
    expect(existsSync(world.lock)).toBe(false);
  });

  test('does not get the lock of a file that was removed meanwhile', async () => {
    const first = await world.acquire();
    const second = await world.wait({ mode: 'shared', create: false });
    rmSync(world.lock);
    await first.release();
    await until(() => second.error, 'the second is refused');
    expect(second.error).toEqual(new Error('the lock is gone'));
  });

  test('gets the lock of the file that has the name', async () => {
    const first = await world.acquire();
    const second = await world.wait();
    rmSync(world.lock);
    await first.release();
    await until(() => second.lock, 'the second has it');
    expect(await world.try(NOW)).toBe('busy');
  });
});

describe('what cannot be locked', () => {
  test('a file that is not there, and is not to be made, is gone', async () => {
    expect(await world.try({ create: false })).toBe('gone');
    expect(existsSync(world.lock)).toBe(false);
  });

  test('a folder that is not there is named', async () => {
    const path = join(world.folder, 'none', 'lock');
    await expect(world.acquire({ path })).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: `Could not acquire lock ${path}: No such file or directory: ${path}.`,
    });
  });

  test('a symbolic link is not followed', async () => {
    mkdirSync(join(world.folder, 'elsewhere'));
    symlinkSync(join(world.folder, 'elsewhere', 'file'), world.lock);
    await expect(world.acquire()).rejects.toThrow(/symbolic links/);
    expect(existsSync(join(world.folder, 'elsewhere', 'file'))).toBe(false);
  });

  test('an interpreter that does not start is reported', async () => {
    const request = { path: world.lock, mode: 'exclusive', create: true } as const;
    await expect(lockFile('/bin/false', request)).rejects.toThrow(/Could not acquire lock .*status 1/);
  });

  test.runIf(process.platform === 'linux')(
    'a file system without flock is reported with what to do',
    async () => {
      const interpreter = join(world.folder, 'python');
      const filter = new URL('./fixtures/without_flock.py', import.meta.url).pathname;
      writeFileSync(interpreter, `#!/bin/sh\nexec '${python}' '${filter}' '${python}' "$@"\n`);
      chmodSync(interpreter, 0o755);
      const request = { path: world.lock, mode: 'shared', create: true } as const;
      await expect(lockFile(interpreter, request)).rejects.toMatchObject({
        code: 'CONFIGURATION_ERROR',
        message: `Could not acquire lock ${world.lock}: the file system of ${world.folder} has no file locks (flock); choose another folder with VENVS_BASE_PATH.`,
      });
    },
  );
});
