import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { canonicalJson } from '../../src/audit/chain.js';
import { Database, lastLookedUp } from '../../src/audit/database.js';
import { SharedCommits } from '../../src/audit/writer.js';
import { aDenial, aRun, sha256 } from './fixtures/records.js';
import { walCommits } from './fixtures/wal-commits.js';
import { TrailWorld } from './trail-world.js';

let world: TrailWorld;
beforeEach(() => {
  world = new TrailWorld();
});
afterEach(() => world.end());

describe('an entry', () => {
  test('has the hash of the one before and of its own canonical JSON', async () => {
    const trail = await world.open();
    const first = await trail.record(aRun({ runId: 'a' }));
    const second = await trail.record(aRun({ runId: 'b' }));
    const { prevHash, hash, ...rest } = trail.get('b')!;
    expect({ seq: rest.seq, hash }).toEqual(second);
    expect(prevHash).toBe(first.hash);
    expect(hash).toBe(createHash('sha256').update(prevHash).update(canonicalJson(rest)).digest('hex'));
  });

  test('follows a genesis that names the public key', async () => {
    const trail = await world.open();
    const genesis = trail.get(1)!;
    expect(genesis).toMatchObject({ kind: 'server', data: { event: 'genesis' }, prevHash: '0'.repeat(64) });
    expect(JSON.stringify(genesis.data)).toContain('BEGIN PUBLIC KEY');
  });

  test.each(['a\0b', 'half \ud800 character', 'é "quoted" \u2028', ''])(
    'keeps any text as it is: %j',
    async (text) => {
      const trail = await world.open();
      const { seq } = await trail.record(
        aRun({ code: text, client: text, environment: text, runId: `${text}!` }),
      );
      expect(trail.get(seq)).toMatchObject({ client: text, data: { code: text, environment: text } });
      expect(trail.list({ client: text, environment: text }).map((entry) => entry.seq)).toEqual([seq]);
      expect(trail.get(`${text}!`)!.seq).toBe(seq);
      expect(await trail.verify()).toMatchObject({ ok: true, entries: 2 });
    },
  );

  test('that is none is refused, and the others of its time are not', async () => {
    const trail = await world.open();
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const bad = aRun();
    const results = await Promise.allSettled([
      trail.record(aRun()),
      trail.record({ ...bad, data: { ...bad.data, inputs: circle } }),
      trail.record(aRun()),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await trail.verify()).toMatchObject({ ok: true, entries: 3 });
  });
});

describe('commits', () => {
  test('are shared by what is recorded at once', async () => {
    const trail = await world.open();
    const before = walCommits(world.database);
    await Promise.all(Array.from({ length: 50 }, () => trail.record(aRun())));
    expect(walCommits(world.database) - before).toBe(1);
    await trail.record(aRun());
    // The lookup may have been filled in between.
    expect(walCommits(world.database) - before).toBeGreaterThan(1);
  });

  test('take together what came while one was under way, and fail only their own', async () => {
    const seen: string[][] = [];
    const gates: { open: () => void; fail: (error: Error) => void }[] = [];
    const commits = new SharedCommits<string, string>((items) => {
      seen.push(items);
      return new Promise((resolve, reject) => gates.push({ open: () => resolve(items), fail: reject }));
    });
    const reached = async (count: number) => {
      while (gates.length < count) await new Promise(setImmediate);
    };
    const first = commits.add('a');
    await reached(1);
    const later = ['b', 'c', 'd'].map((item) => commits.add(item));
    gates[0]!.open();
    expect(await first).toBe('a');
    await reached(2);
    const last = commits.add('e');
    gates[1]!.fail(new Error('no space'));
    for (const one of later) await expect(one).rejects.toThrow('no space');
    await reached(3);
    gates[2]!.open();
    expect(await last).toBe('e');
    expect(seen).toEqual([['a'], ['b', 'c', 'd'], ['e']]);
  });

  test.each(['normal', 'full'] as const)('are made in both modes (%s)', async (sync) => {
    const trail = await world.open({ sync });
    await trail.record(aRun());
    expect(await trail.verify()).toMatchObject({ ok: true });
  });
});

describe('the lookup of queries', () => {
  /** The number of its last entry, as another process sees it. */
  const lookedUp = async () => {
    const database = await Database.connect(world.database, 'read');
    return { last: () => lastLookedUp(database), close: () => database.close() };
  };

  test('is no part of the commit that is waited for, and follows by itself', async () => {
    const trail = await world.open();
    const { last, close } = await lookedUp();
    await until(() => last() === 1, 'the first entry is looked up');
    await Promise.all(Array.from({ length: 450 }, (_, index) => trail.record(aRun({ runId: `r${index}` }))));
    expect(last()).toBe(1);
    expect(trail.get('r449')).toMatchObject({ seq: 451 });
    await until(() => last() === 451, 'all entries are looked up');
    close();
    expect(await trail.verify()).toMatchObject({ ok: true, entries: 451 });
  });

  test('is filled by the next to open a trail that was not closed', async () => {
    await (await world.open()).close();
    await world.tamper((database) => database.exec('DELETE FROM lookup'));
    await world.open();
    const { last, close } = await lookedUp();
    await until(() => last() === 1, 'all entries are looked up');
    close();
  });
});

describe('checkpoints', () => {
  test('are made every thousand entries and at the end', async () => {
    const trail = await world.open();
    await Promise.all(Array.from({ length: 2100 }, () => trail.record(aRun())));
    const { checkpoints } = await trail.verify();
    expect(checkpoints).toBeGreaterThanOrEqual(2);
    await trail.close();
    expect(await (await world.open()).verify()).toMatchObject({
      ok: true,
      entries: 2101,
      checkpoints: checkpoints + 1,
    });
  });
});

describe('without the code', () => {
  test('its hash is all that is anywhere in the files', async () => {
    const trail = await world.open({ storeCode: false });
    const run = aRun({ code: 'print("a secret")' });
    await trail.record({ ...run, data: { ...run.data, inputs: { stdin: 'a secret' } } });
    await trail.record(aDenial());
    const [denial, kept] = trail.list();
    expect(kept!.data).toMatchObject({ code: null, inputs: null, codeSha256: sha256('print("a secret")') });
    expect(denial!.data).toMatchObject({ code: null });
    expect(await trail.verify()).toMatchObject({ ok: true });
    for (const file of [world.database, `${world.database}-wal`])
      expect(readFileSync(file).includes('secret')).toBe(false);
  });
});

describe('a closed trail', () => {
  test('had committed what was on its way, and takes no more', async () => {
    const trail = await world.open();
    const recorded = trail.record(aRun({ runId: 'late' }));
    await Promise.all([recorded, trail.close(), trail.close()]);
    await expect(trail.record(aRun())).rejects.toMatchObject({ details: { audit: 'closed' } });
    expect((await world.open()).get('late')).toBeDefined();
  });
});
