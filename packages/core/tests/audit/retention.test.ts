import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { aRun } from './fixtures/records.js';
import { TrailWorld } from './trail-world.js';

let world: TrailWorld;
beforeEach(() => {
  world = new TrailWorld();
});
afterEach(() => world.end());

/** A time that is later than all that was recorded, and earlier than all that will be. */
async function now(): Promise<Date> {
  const started = Date.now();
  await until(() => Date.now() > started, 'the clock moves');
  const time = new Date();
  await until(() => Date.now() > time.getTime(), 'the clock moves');
  return time;
}

describe('pruning', () => {
  test('removes what is older, keeps the rest verifiable, and is an entry itself', async () => {
    const trail = await world.open();
    for (const runId of ['old-1', 'old-2']) await trail.record(aRun({ runId }));
    const before = await now();
    await trail.record(aRun({ runId: 'new' }));
    expect(await trail.prune(before, 'ann')).toEqual({ removed: 3 });
    expect(trail.get('old-2')).toBeUndefined();
    expect(trail.list().map(({ seq, kind }) => [seq, kind])).toEqual([
      [5, 'server'],
      [4, 'run'],
    ]);
    const details = { before: before.toISOString(), from: 1, through: 3 };
    expect(trail.get(5)).toMatchObject({ client: 'ann', data: { event: 'pruned', details } });
    expect(await trail.verify()).toMatchObject({ ok: true, entries: 2 });
    expect((await trail.record(aRun())).seq).toBe(6);
  });

  test('goes on over many steps while others write, and can be repeated', async () => {
    const trail = await world.open();
    const other = await world.open();
    await Promise.all(Array.from({ length: 4500 }, () => trail.record(aRun())));
    const before = await now();
    const [{ removed }] = await Promise.all([
      trail.prune(before),
      ...Array.from({ length: 20 }, (_, index) => other.record(aRun({ runId: `meanwhile-${index}` }))),
    ]);
    expect(removed).toBe(4501);
    expect(await trail.verify()).toMatchObject({ ok: true, entries: 21 });
    expect(await trail.prune(before)).toEqual({ removed: 0 });
    await trail.prune(new Date(Date.now() + 1000));
    expect(await trail.verify()).toMatchObject({ ok: true, entries: 1 });
  });

  test('leaves nothing of a removed entry in the database', async () => {
    const trail = await world.open();
    await trail.record(aRun({ code: 'needle = "in the haystack"' }));
    await trail.prune(await now());
    await trail.close();
    expect(readFileSync(world.database).includes('haystack')).toBe(false);
  });

  test('happens by itself where a retention is set', async () => {
    const first = await world.open();
    await first.record(aRun({ runId: 'old' }));
    await first.close();
    await now();
    const trail = await world.open({ retentionDays: 0 });
    await until(() => trail.get('old') === undefined, 'the old entry is gone');
    expect(await trail.verify()).toMatchObject({ ok: true });
  });
});
