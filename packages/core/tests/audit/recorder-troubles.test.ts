import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { listeningLogger } from '../engine/pungi.js';
import { someFacts } from './fixtures/outcomes.js';
import { TrailWorld } from './trail-world.js';

let world: TrailWorld;
beforeEach(() => {
  world = new TrailWorld();
});
afterEach(async () => {
  vi.useRealTimers();
  await world.end();
});

describe('a trail that cannot be opened', () => {
  /** Where the folder should be is a file. */
  const block = () => writeFileSync(world.folder, 'in the way');

  test('refuses runs with a sentence that says which, why and what to do, and tells the log once', async () => {
    block();
    const logger = listeningLogger();
    const recorder = world.record({}, logger);
    for (let run = 0; run < 3; run += 1) {
      const error = await recorder.run(someFacts()).catch((thrown) => thrown);
      expect(error).toMatchObject({ name: 'PungiError', code: 'AUDIT_UNAVAILABLE' });
      for (const words of [world.folder, 'not a folder', 'AUDIT_DIR', 'AUDIT=false'])
        expect(error.message).toContain(words);
      expect(recorder.problem).toBe(error.message);
    }
    await expect(recorder.ready()).rejects.toMatchObject({ code: 'AUDIT_UNAVAILABLE' });
    expect(logger.entries.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  test('is tried again, and heals without a restart', async () => {
    block();
    const recorder = world.record();
    await expect(recorder.ready()).rejects.toMatchObject({ code: 'AUDIT_UNAVAILABLE' });
    rmSync(world.folder);
    await until(
      () =>
        recorder.ready().then(
          () => true,
          () => false,
        ),
      'the trail is open',
    );
    await recorder.run(someFacts());
    expect(recorder.problem).toBeNull();
    expect((await world.newest()).kind).toBe('run');
  });

  test('because it is damaged says so, and how to begin anew', async () => {
    await (await world.open()).close();
    rmSync(join(world.folder, 'audit.key'));
    const error = await world
      .record()
      .ready()
      .catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'AUDIT_DAMAGED' });
    for (const words of [world.folder, 'pungi audit verify', 'AUDIT_DIR', 'AUDIT=false'])
      expect(error.message).toContain(words);
  });
});

describe('a trail that is removed while in use', () => {
  test.each(['removed', 'moved away'])(
    'is not written to any more (%s), and one is begun anew',
    async (how) => {
      const recorder = world.record();
      await recorder.run(someFacts());
      if (how === 'removed') rmSync(world.folder, { recursive: true });
      else renameSync(world.folder, `${world.folder}-moved`);
      await expect(recorder.run(someFacts())).rejects.toMatchObject({ code: 'AUDIT_UNAVAILABLE' });
      expect(recorder.problem).toContain('removed or replaced');
      const facts = someFacts();
      await until(
        () =>
          recorder.run(facts).then(
            () => true,
            () => false,
          ),
        'a trail is there again',
      );
      expect(await world.newest()).toMatchObject({ seq: 2, data: { runId: facts.outcome.runId } });
    },
  );
});

test('a clock that is set back changes neither the chain nor what is found', async () => {
  const recorder = world.record();
  const now = Date.now();
  vi.useFakeTimers({ toFake: ['Date'] });
  for (const [runId, time] of [
    ['a', now],
    ['b', now - 3_600_000],
    ['c', now + 1000],
  ] as const) {
    vi.setSystemTime(time);
    await recorder.run(someFacts({ outcome: { runId } }));
  }
  const trail = await world.open();
  expect(await trail.verify()).toMatchObject({ ok: true });
  const runs = trail.list({ kind: 'run' }).map(({ data }) => (data as { runId: string }).runId);
  expect(runs).toEqual(['c', 'a', 'b']);
  const old = trail.list({ until: new Date(now - 1000).toISOString() });
  expect(old.map(({ data }) => (data as { runId: string }).runId)).toEqual(['b']);
  // Only a beginning can be cut off, and "b" lies behind an entry that stays.
  await trail.prune(new Date(now - 1000));
  expect(trail.get('b')).toBeDefined();
  expect(await trail.verify()).toMatchObject({ ok: true });
});
