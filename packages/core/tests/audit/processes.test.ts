import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { TrailWorld, type Writing } from './trail-world.js';

let world: TrailWorld;
beforeEach(() => {
  world = new TrailWorld();
});
afterEach(() => world.end());

/** Every acknowledged entry is there as it was acknowledged, and the chain is whole. Returns how many it has. */
async function checkAcknowledged(writers: Writing[]): Promise<number> {
  const trail = await world.open();
  const acknowledged = writers
    .flatMap((writer) => writer.lines())
    .filter((line) => !line.startsWith('failed'));
  const found = acknowledged.map((line) => {
    const entry = trail.get(line.split(' ')[2]!);
    return `${entry?.seq} ${entry?.hash} ${line.split(' ')[2]}`;
  });
  expect(found).toEqual(acknowledged);
  const { problems, entries } = await trail.verify();
  expect(problems).toEqual([]);
  expect(entries).toBeGreaterThan(acknowledged.length);
  await trail.close();
  return entries;
}

test('several processes that begin one trail together write one chain', async () => {
  const writers = ['a', 'b', 'c', 'd'].map((name) => world.start('writing', [name, '200', '4']));
  expect(await Promise.all(writers.map(({ exited }) => exited))).toEqual([0, 0, 0, 0]);
  expect(await checkAcknowledged(writers)).toBe(801);
});

describe('kill -9', () => {
  test('at any point loses nothing that was acknowledged', async () => {
    const killed: Writing[] = [];
    for (let round = 0; round < 8; round += 1) {
      // The first rounds hit the beginning, where the files are made.
      const enough = round < 2 ? round : Math.floor(Math.random() * 1500);
      const writer = world.start('writing', [`round-${round}`, '1000000', '8']);
      await until(() => writer.lines().length >= enough, `${enough} entries are acknowledged`);
      writer.child.kill('SIGKILL');
      await writer.exited;
      killed.push(writer);
    }
    await checkAcknowledged(killed);
  }, 120_000);

  test('of one of three leaves the others writing', async () => {
    const victim = world.start('writing', ['victim', '1000000', '4']);
    const stayers = ['a', 'b'].map((name) => world.start('writing', [name, '300', '4']));
    await until(() => victim.lines().length > 100, 'the victim writes');
    victim.child.kill('SIGKILL');
    expect(await Promise.all(stayers.map(({ exited }) => exited))).toEqual([0, 0]);
    await victim.exited;
    await checkAcknowledged([victim, ...stayers]);
  });
});

test('a disk that takes no more makes recording fail, and what was acknowledged is there', async () => {
  // A limit on the size of a file is the full disk that every user can have.
  const writer = world.start('writing', ['full', '1000000', '4'], 'ulimit -f 1500;');
  expect(await writer.exited).toBe(3);
  expect(writer.lines().at(-1)).toMatch(/^failed AUDIT_UNAVAILABLE (unusable|disk-full)$/);
  expect(writer.lines().length).toBeGreaterThan(10);
  await checkAcknowledged([writer]);
});
