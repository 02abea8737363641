import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { descendantsOf, isAlive } from '../../../../tests/support/processes.js';
import { until } from '../../../../tests/support/until.js';
import { LockWorld } from './lock-world.js';

let world: LockWorld;
beforeEach(() => {
  world = new LockWorld();
});
afterEach(() => world.end());

const holdersOf = (pid: number) => descendantsOf(pid).filter(({ command }) => command.startsWith('python'));

describe('a process that is killed', () => {
  test.each(['shared', 'exclusive'])('and held a lock (%s) frees it, and leaves no process', async (mode) => {
    const other = world.start('lock-user', { mode, afterwards: 'stay' });
    await other.says('had it');
    const holders = holdersOf(other.child.pid!);
    expect(holders).toHaveLength(1);
    const own = await world.wait();
    other.child.kill('SIGKILL');
    await until(() => own.lock, 'the lock is free');
    await until(() => !holders.some(isAlive), 'the process is gone');
  });

  test('and waited for a lock is not waited for', async () => {
    const shared = await world.acquire({ mode: 'shared' });
    const other = world.start('lock-user', { mode: 'exclusive', afterwards: 'stay' });
    const holders = await until(() => {
      const found = holdersOf(other.child.pid!);
      return found.length > 0 ? found : undefined;
    }, 'it asks');
    other.child.kill('SIGKILL');
    await until(() => !holders.some(isAlive), 'the process is gone');
    await shared.release();
    await world.acquire({ waitMs: 0 });
  });

  test('among many that count takes no number with it, and nobody hangs', async () => {
    const counter = join(world.folder, 'counter');
    writeFileSync(counter, '0');
    const stayers = Array.from({ length: 3 }, () => world.start('lock-counter', { counter, rounds: 10 }));
    const victims = Array.from({ length: 3 }, () => world.start('lock-counter', { counter, rounds: 1e6 }));
    for (const [index, victim] of victims.entries()) {
      await until(() => victim.said.split('\n').length > index + 1, 'the victim counts');
      victim.child.kill('SIGKILL');
    }
    expect(await Promise.all(stayers.map(({ exited }) => exited))).toEqual([0, 0, 0]);
    await Promise.all(victims.map(({ exited }) => exited));
    const said = [...stayers, ...victims].flatMap((user) =>
      user.said.split('\n').filter(Boolean).map(Number),
    );
    expect(new Set(said).size).toBe(said.length);
    expect(said.length).toBeGreaterThan(3 * 10);
    // A victim may have written one number that it could no longer say.
    const last = Number(readFileSync(counter, 'utf8'));
    expect(last).toBeGreaterThanOrEqual(said.length);
    expect(last).toBeLessThanOrEqual(said.length + victims.length);
  });
});

test('a lock whose process is killed is lost, which is reported, and the next request works', async () => {
  const before = new Set(holdersOf(process.pid).map(({ pid }) => pid));
  const lock = await world.acquire();
  const [holder] = holdersOf(process.pid).filter(({ pid }) => !before.has(pid));
  process.kill(holder!.pid, 'SIGKILL');
  await until(() => lock.lost.aborted, 'the loss is reported');
  expect(`${lock.lost.reason}`).toMatch(
    /the lock is lost with the process that held it: it ended with SIGKILL/,
  );
  await world.acquire({ waitMs: 0 });
  await lock.release();
});

describe('the end of the process that has it', () => {
  test.each(['release', 'exit'])('frees the lock (after %s)', async (afterwards) => {
    const user = world.start('lock-user', { mode: 'exclusive', afterwards });
    expect(await user.exited).toBe(0);
    expect(user.said).toBe('had it\n');
    await world.acquire();
  });
});
