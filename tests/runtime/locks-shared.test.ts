import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Hold, LockKeeper } from '../../src/runtime/lock-keeper.js';
import { type Clock, SharedHolds } from '../../src/runtime/shared-holds.js';
import { until } from '../support/until.js';
import { LockWorld, roundTrip } from './lock-world.js';

/** A clock that goes when it is told to. */
class Handclock implements Clock {
  #now = 0;
  #calls = new Map<() => void, number>();

  now(): number {
    return this.#now;
  }

  after(ms: number, call: () => void): () => void {
    const once = () => call();
    this.#calls.set(once, this.#now + ms);
    return () => this.#calls.delete(once);
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const [call, at] of [...this.#calls])
      if (at <= this.#now) {
        this.#calls.delete(call);
        call();
      }
  }
}

let world: LockWorld;
let clock: Handclock;
let keeper: LockKeeper;
let holds: SharedHolds;
let asked: number;
let latest: Promise<Hold>;
beforeEach(() => {
  world = new LockWorld();
  clock = new Handclock();
  keeper = world.keeper();
  asked = 0;
  const counting: Pick<LockKeeper, 'acquire'> = {
    acquire: (...request) => {
      asked += 1;
      latest = keeper.acquire(...request);
      return latest;
    },
  };
  holds = new SharedHolds(counting, clock);
});
afterEach(() => world.end());

const tryAlone = () => keeper.acquire(world.lock, 'exclusive', { wait: false });
const isRefused = () => expect(tryAlone()).rejects.toMatchObject({ code: 'ENVIRONMENT_IN_USE' });

/** Something that waits, and whether it was told so. */
function waiting<T>(start: (onWait: () => void) => Promise<T>) {
  const state: { told: number; value?: T } = { told: 0 };
  start(() => {
    state.told += 1;
  }).then(
    (value) => {
      state.value = value;
    },
    () => {},
  );
  return state;
}

test('those who come shortly after each other share one lock, until the last has left', async () => {
  const first = await holds.enter(world.lock);
  clock.advance(499);
  const second = await holds.enter(world.lock);
  expect(asked).toBe(1);
  first();
  first();
  clock.advance(100);
  await isRefused();
  second();
  (await tryAlone()).release();
});

test('those who ask at once share one lock', async () => {
  const all = await Promise.all(Array.from({ length: 50 }, () => holds.enter(world.lock)));
  expect(asked).toBe(1);
  for (const leave of all) leave();
});

test('who comes later asks anew, and stands behind who waits to change it', async () => {
  const first = await holds.enter(world.lock);
  const other = world.keeper();
  const writer = waiting((onWait) => other.acquire(world.lock, 'exclusive', { onWait }));
  await roundTrip(other, world.lock);
  await until(() => writer.told, 'the writer waits');
  const joined = await holds.enter(world.lock);
  clock.advance(500);
  const later = waiting((onWait) => holds.enter(world.lock, { onWait }));
  await until(() => later.told, 'the later one waits');
  first();
  joined();
  const alone = await until(() => writer.value, 'the writer has it');
  expect(later.value).toBeUndefined();
  alone.release();
  await until(() => later.value, 'the later one has it');
  expect([asked, writer.told, later.told]).toEqual([2, 1, 1]);
});

test('who asked long ago and still waits is not joined', async () => {
  const alone = await keeper.acquire(world.lock, 'exclusive');
  const first = waiting(() => holds.enter(world.lock));
  clock.advance(500);
  const second = waiting(() => holds.enter(world.lock));
  expect(asked).toBe(2);
  alone.release();
  await until(() => first.value && second.value, 'both have it');
});

test('an unused lock is kept for a moment, for the next', async () => {
  for (let round = 0; round < 3; round++) {
    (await holds.enter(world.lock))();
    clock.advance(19);
  }
  const leave = await holds.enter(world.lock);
  clock.advance(100);
  await isRefused();
  leave();
  clock.advance(19);
  await isRefused();
  clock.advance(1);
  (await tryAlone()).release();
  expect(asked).toBe(1);
});

test('settling gives back what nobody uses, and nothing else', async () => {
  holds.settle(world.lock);
  const leave = await holds.enter(world.lock);
  holds.settle(world.lock);
  await isRefused();
  leave();
  await isRefused();
  holds.settle(world.lock);
  (await tryAlone()).release();
  (await holds.enter(world.lock))();
  expect(asked).toBe(2);
});

test('a lock that was kept when a later one replaced it is not kept on', async () => {
  const first = await holds.enter(world.lock);
  clock.advance(490);
  first();
  clock.advance(10);
  const second = await holds.enter(world.lock);
  second();
  holds.settle(world.lock);
  (await tryAlone()).release();
});

test('who gives up leaves the others undisturbed', async () => {
  const alone = await keeper.acquire(world.lock, 'exclusive');
  const cancel = new AbortController();
  const first = holds.enter(world.lock, { signal: cancel.signal });
  const second = holds.enter(world.lock);
  cancel.abort(new Error('enough'));
  await expect(first).rejects.toThrow('enough');
  alone.release();
  const leave = await second;
  expect(asked).toBe(1);
  await isRefused();
  leave();
  clock.advance(20);
  (await tryAlone()).release();
});

test('where all gave up nothing is waited for, and nothing is held later', async () => {
  const alone = await keeper.acquire(world.lock, 'exclusive');
  const cancels = [new AbortController(), new AbortController()];
  const entering = cancels.map(({ signal }) => holds.enter(world.lock, { signal }));
  for (const cancel of cancels) cancel.abort(new Error('enough'));
  for (const one of entering) await expect(one).rejects.toThrow('enough');
  await expect(latest).rejects.toThrow();
  alone.release();
  (await tryAlone()).release();
  (await holds.enter(world.lock))();
  expect(asked).toBe(2);
  await expect(holds.enter(world.lock, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow(
    'before',
  );
});

test('a lock that was on its way when all gave up is given back', async () => {
  const alone = await keeper.acquire(world.lock, 'exclusive');
  let coming: Promise<Hold> | undefined;
  const unstoppable = new SharedHolds(
    { acquire: (path, mode) => (coming = keeper.acquire(path, mode)) },
    clock,
  );
  const cancel = new AbortController();
  const entering = unstoppable.enter(world.lock, { signal: cancel.signal });
  cancel.abort(new Error('enough'));
  await expect(entering).rejects.toThrow('enough');
  alone.release();
  await coming;
  (await tryAlone()).release();
});

test('each of those who wait is told once', async () => {
  const alone = await keeper.acquire(world.lock, 'exclusive');
  let told = 0;
  const onWait = () => {
    told += 1;
  };
  const early = [holds.enter(world.lock, { onWait }), holds.enter(world.lock, { onWait })];
  await until(() => told === 2, 'both are told');
  const late = holds.enter(world.lock, { onWait });
  expect(told).toBe(3);
  alone.release();
  for (const entered of [...early, late]) (await entered)();
  expect([asked, told]).toEqual([1, 3]);
});

test('a failure is that of all who asked, and the next may have more luck', async () => {
  const path = join(world.folder, 'later', 'lock');
  const entering = [holds.enter(path), holds.enter(path)];
  for (const one of entering) await expect(one).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  mkdirSync(join(world.folder, 'later'));
  (await holds.enter(path))();
  expect(asked).toBe(2);
});

test('a lock that was lost is not joined', async () => {
  const leave = await holds.enter(world.lock);
  const { pid } = keeper;
  process.kill(pid!, 'SIGKILL');
  const next = await until(async () => {
    const entered = await holds.enter(world.lock);
    if (keeper.pid !== pid) return entered;
    entered();
    return undefined;
  }, 'the loss is noticed');
  expect(asked).toBe(2);
  leave();
  await isRefused();
  next();
});

test('different locks are not mixed up', async () => {
  const leave = await holds.enter(world.lock);
  (await holds.enter(`${world.lock}-other`))();
  holds.settle(`${world.lock}-other`);
  (await keeper.acquire(`${world.lock}-other`, 'exclusive', { wait: false })).release();
  await isRefused();
  leave();
});
