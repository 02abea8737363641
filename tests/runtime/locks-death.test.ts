import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { descendantsOf, isAlive } from '../support/processes.js';
import { until } from '../support/until.js';
import { LockWorld } from './lock-world.js';

let world: LockWorld;
beforeEach(() => {
  world = new LockWorld();
});
afterEach(() => world.end());

const keepersOf = (pid: number) => descendantsOf(pid).filter(({ command }) => command.startsWith('python'));

describe('a process that is killed', () => {
  test.each(['shared', 'exclusive'])('and held a lock (%s) frees it, and leaves no keeper', async (mode) => {
    const other = world.start('lock-user', { mode, afterwards: 'stay' });
    await other.says('had it');
    const keepers = keepersOf(other.child.pid!);
    expect(keepers).toHaveLength(1);
    const own = world.keeper();
    let isWaiting = false;
    const acquired = own.acquire(world.lock, 'exclusive', { onWait: () => (isWaiting = true) });
    await until(() => isWaiting, 'it is held by the other');
    other.child.kill('SIGKILL');
    (await acquired).release();
    await until(() => !keepers.some(isAlive), 'the keeper is gone');
  });

  test('and waited for a lock is not waited for', async () => {
    const own = world.keeper();
    const shared = await own.acquire(world.lock, 'shared');
    const other = world.start('lock-user', { mode: 'exclusive', afterwards: 'stay' });
    const isRefused = () =>
      own.acquire(world.lock, 'shared', { wait: false }).then(
        (hold) => hold.release(),
        () => true,
      );
    await until(isRefused, 'the other stands in the line');
    const behind = own.acquire(world.lock, 'shared');
    other.child.kill('SIGKILL');
    (await behind).release();
    shared.release();
  });

  test('among many that count takes no number with it, and nobody hangs', async () => {
    const counter = join(world.folder, 'counter');
    writeFileSync(counter, '0');
    const stayers = Array.from({ length: 5 }, () => world.start('lock-counter', { counter, rounds: 25 }));
    const victims = Array.from({ length: 3 }, () => world.start('lock-counter', { counter, rounds: 1e6 }));
    for (const [index, victim] of victims.entries()) {
      await until(() => victim.said.split('\n').length > 3 * (index + 1), 'the victim counts');
      victim.child.kill('SIGKILL');
    }
    expect(await Promise.all(stayers.map(({ exited }) => exited))).toEqual([0, 0, 0, 0, 0]);
    await Promise.all(victims.map(({ exited }) => exited));
    const said = [...stayers, ...victims].flatMap((user) =>
      user.said.split('\n').filter(Boolean).map(Number),
    );
    expect(new Set(said).size).toBe(said.length);
    expect(said.length).toBeGreaterThan(5 * 25);
    // A victim may have written one number that it could no longer say.
    const last = Number(readFileSync(counter, 'utf8'));
    expect(last).toBeGreaterThanOrEqual(said.length);
    expect(last).toBeLessThanOrEqual(said.length + victims.length);
  });
});

describe('a keeper that is killed', () => {
  test('takes its locks with it, which is told, and the next request works', async () => {
    const [own, other] = [world.keeper(), world.keeper()];
    const hold = await own.acquire(world.lock, 'exclusive');
    const released = await own.acquire(join(world.folder, 'released'), 'exclusive');
    released.release();
    process.kill(own.pid!, 'SIGKILL');
    await until(() => hold.lost.aborted, 'the loss is told');
    expect(released.lost.aborted).toBe(false);
    (await other.acquire(world.lock, 'exclusive')).release();
    (await own.acquire(world.lock, 'exclusive')).release();
    hold.release();
  });

  test('is replaced under those who wait', async () => {
    const [own, other] = [world.keeper(), world.keeper()];
    const hold = await other.acquire(world.lock, 'exclusive');
    let isWaiting = false;
    const waiting = own.acquire(world.lock, 'exclusive', { onWait: () => (isWaiting = true) });
    await until(() => isWaiting, 'it waits');
    const first = own.pid!;
    process.kill(first, 'SIGKILL');
    await until(() => own.pid !== first, 'there is another');
    hold.release();
    const held = await waiting;
    expect(held.lost.aborted).toBe(false);
    await expect(other.acquire(world.lock, 'shared', { wait: false })).rejects.toThrow();
  });
});

describe('the end', () => {
  test.each([
    ['exclusive', 'release'],
    ['shared', 'nothing'],
    ['lingering', 'nothing'],
  ])('a keeper keeps nobody alive (%s, then %s)', async (mode, afterwards) => {
    const user = world.start('lock-user', { mode, afterwards });
    expect(await user.exited).toBe(0);
    expect(user.said).toBe('had it\n');
    (await world.keeper().acquire(world.lock, 'exclusive')).release();
  });

  test('close() ends the keeper, its holds and those who wait', async () => {
    const [own, other] = [world.keeper(), world.keeper()];
    const hold = await own.acquire(world.lock, 'exclusive');
    const keepers = keepersOf(process.pid).filter(({ pid }) => pid === own.pid);
    expect(keepers).toHaveLength(1);
    const refused = expect(own.acquire(world.lock, 'shared')).rejects.toMatchObject({ code: 'CANCELLED' });
    await Promise.all([own.close(), own.close()]);
    await refused;
    expect(hold.lost.aborted).toBe(true);
    expect(keepers.some(isAlive)).toBe(false);
    await expect(own.acquire(world.lock, 'shared')).rejects.toMatchObject({ code: 'CANCELLED' });
    (await other.acquire(world.lock, 'exclusive')).release();
  });
});
