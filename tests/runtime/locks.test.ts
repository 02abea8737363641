import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { type Hold, LockKeeper } from '../../src/runtime/lock-keeper.js';
import { until } from '../support/until.js';
import { LockWorld, lineUp, roundTrip, stream } from './lock-world.js';

let world: LockWorld;
let one: LockKeeper;
let two: LockKeeper;
beforeEach(() => {
  world = new LockWorld();
  one = world.keeper();
  two = world.keeper();
});
afterEach(() => world.end());

interface Asked {
  isTold: boolean;
  hold?: Hold;
  error?: unknown;
}

/** Asks, and returns when the keeper has tried it and put it into its line. */
async function ask(keeper: LockKeeper, mode: 'shared' | 'exclusive', signal?: AbortSignal): Promise<Asked> {
  const asked: Asked = { isTold: false };
  const onWait = () => {
    asked.isTold = true;
  };
  keeper.acquire(world.lock, mode, { onWait, ...(signal && { signal }) }).then(
    (hold) => {
      asked.hold = hold;
    },
    (error) => {
      asked.error = error;
    },
  );
  await roundTrip(keeper, world.lock);
  return asked;
}
/** Asks for what cannot be had now. */
async function waitFor(...request: Parameters<typeof ask>): Promise<Asked> {
  const asked = await ask(...request);
  await until(() => asked.isTold, 'it is told that it waits');
  expect(asked.hold).toBeUndefined();
  return asked;
}
const has = (asked: Asked) => until(() => asked.hold, 'it has the lock');

test('a keeper that is slow is no lock that others have', async () => {
  await roundTrip(one, world.lock);
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  process.kill(one.pid!, 'SIGSTOP');
  try {
    const onWait = vi.fn();
    const acquired = one.acquire(world.lock, 'exclusive', { onWait });
    vi.advanceTimersByTime(60_000);
    expect(onWait).not.toHaveBeenCalled();
    process.kill(one.pid!, 'SIGCONT');
    await acquired;
  } finally {
    vi.useRealTimers();
  }
});

describe.each([
  ['in one process', () => one],
  ['in two processes', () => two],
])('%s', (_, other) => {
  test('many share a lock', async () => {
    const holds = [await one.acquire(world.lock, 'shared'), await other().acquire(world.lock, 'shared')];
    expect(holds.every(({ lost }) => !lost.aborted)).toBe(true);
  });

  test('who has it alone has it alone', async () => {
    const alone = await one.acquire(world.lock, 'exclusive');
    const reader = await waitFor(other(), 'shared');
    alone.release();
    const shared = await has(reader);
    const writer = await waitFor(other(), 'exclusive');
    shared.release();
    await has(writer);
  });

  test('who waits to have it alone is not passed by others', async () => {
    const shared = await one.acquire(world.lock, 'shared');
    const writer = await waitFor(other(), 'exclusive');
    const reader = await waitFor(one, 'shared');
    shared.release();
    const alone = await has(writer);
    expect(reader.hold).toBeUndefined();
    alone.release();
    await has(reader);
  });

  test('who gave up waiting is in nobody’s way', async () => {
    const shared = await one.acquire(world.lock, 'shared');
    const cancel = new AbortController();
    const writer = await waitFor(other(), 'exclusive', cancel.signal);
    const readers = [await waitFor(one, 'shared'), await waitFor(other(), 'shared')];
    cancel.abort(new Error('enough'));
    for (const reader of readers) (await has(reader)).release();
    expect(writer.error).toEqual(new Error('enough'));
    shared.release();
    (await other().acquire(world.lock, 'exclusive')).release();
  });

  test('who does not want to wait is refused while it is held, or waited for', async () => {
    const shared = await one.acquire(world.lock, 'shared');
    const tryNow = (mode: 'shared' | 'exclusive') => other().acquire(world.lock, mode, { wait: false });
    await expect(tryNow('exclusive')).rejects.toMatchObject({ code: 'ENVIRONMENT_IN_USE' });
    (await tryNow('shared')).release();
    const writer = await waitFor(one, 'exclusive');
    await expect(tryNow('shared')).rejects.toMatchObject({ code: 'ENVIRONMENT_IN_USE' });
    shared.release();
    const alone = await has(writer);
    await expect(tryNow('shared')).rejects.toMatchObject({ code: 'ENVIRONMENT_IN_USE' });
    alone.release();
    await roundTrip(one, world.lock);
    (await tryNow('exclusive')).release();
  });

  test('different locks know nothing of each other', async () => {
    await one.acquire(world.lock, 'exclusive');
    await waitFor(one, 'exclusive');
    await waitFor(other(), 'shared');
    const neighbour = await other().acquire(join(world.folder, 'neighbour'), 'exclusive', { wait: false });
    neighbour.release();
  });
});

describe('order', () => {
  test('is that of asking, also between processes', async () => {
    const first = await one.acquire(world.lock, 'exclusive');
    const had: string[] = [];
    const asked: string[] = [];
    const all: Promise<void>[] = [];
    for (const [index, keeper] of [one, two, two, one, two, one, one, two].entries()) {
      const name = `${keeper === one ? 'one' : 'two'} ${index}`;
      asked.push(name);
      const { done } = await lineUp(keeper, world.lock, 'exclusive', () => void had.push(name));
      all.push(done);
    }
    first.release();
    await Promise.all(all);
    expect(had).toEqual(asked);
  });

  test('readers that wait next to each other come in together', async () => {
    const first = await one.acquire(world.lock, 'exclusive');
    let inside = 0;
    const together = async () => {
      inside += 1;
      await until(() => inside === 3, 'all three are in');
    };
    const readers = [];
    for (const keeper of [one, two, one]) readers.push(await lineUp(keeper, world.lock, 'shared', together));
    first.release();
    await Promise.all(readers.map(({ done }) => done));
  });

  test.each([
    ['readers', 'shared', 'exclusive'],
    ['writers', 'exclusive', 'shared'],
    ['writers', 'exclusive', 'exclusive'],
  ] as const)('a stream of %s (%s) of another process does not starve (%s)', async (_, theirs, ours) => {
    const rush = stream(one, world.lock, theirs);
    await until(() => rush.count > 20, 'the stream is going');
    for (let round = 0; round < 3; round++) {
      let linedUpAt: number | undefined;
      let passed = 0;
      const { done } = await lineUp(two, world.lock, ours, () => {
        passed = rush.count - (linedUpAt ?? rush.count);
      });
      linedUpAt = rush.count;
      await done;
      // Few had asked before; if it were a matter of luck, about a thousand would pass.
      expect(passed).toBeLessThan(200);
      const before = rush.count;
      await until(() => rush.count > before + 5, 'the stream goes on');
    }
    await rush.stop();
  });
});

describe('what cannot be', () => {
  test('a folder that is not there fails with its name', async () => {
    await expect(one.acquire(join(world.folder, 'none', 'lock'), 'shared')).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringContaining(`No such file or directory: ${world.folder}/none/lock.turn`),
    });
  });

  test('a symbolic link is not followed', async () => {
    mkdirSync(join(world.folder, 'elsewhere'));
    for (const part of ['turn', 'room']) {
      const lock = join(world.folder, `linked-${part}`);
      symlinkSync(join(world.folder, 'elsewhere', 'file'), `${lock}.${part}`);
      await expect(one.acquire(lock, 'exclusive')).rejects.toThrow(/symbolic links/);
    }
    (await one.acquire(world.lock, 'exclusive')).release();
  });

  test('an interpreter that does not start is told of', async () => {
    const broken = new LockKeeper(join(world.folder, 'no-python'), silentLogger);
    await expect(broken.acquire(world.lock, 'shared')).rejects.toThrow(/Could not acquire the lock .*ENOENT/);
    await broken.close();
    const wrong = new LockKeeper('/bin/false', silentLogger);
    await expect(wrong.acquire(world.lock, 'shared')).rejects.toThrow(/does not stay alive .*status 1/);
    await wrong.close();
  });

  test('an aborted signal asks for nothing', async () => {
    const aborted = AbortSignal.abort(new Error('before'));
    await expect(one.acquire(world.lock, 'exclusive', { signal: aborted })).rejects.toThrow('before');
    expect(one.pid).toBeUndefined();
  });
});
