import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RUNS_ALL } from '../../../../tests/support/long-tests.js';
import { until } from '../../../../tests/support/until.js';
import type { AuditTrail } from '../../src/audit/audit-trail.js';
import { runRecord } from '../../src/audit/run-facts.js';
import { openTrailForReading } from '../../src/audit/trail-reader.js';
import { someFacts } from './fixtures/outcomes.js';
import { aRun, sha256 } from './fixtures/records.js';
import { TrailWorld } from './trail-world.js';

let world: TrailWorld;
beforeEach(() => {
  world = new TrailWorld();
});
afterEach(() => world.end());

const MB = 1024 * 1024;
/** SQLite carries its log over every 16 MB. */
const LOG = 24 * MB;

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

async function flood(trail: AuditTrail, megabytes: number): Promise<void> {
  const code = '#'.repeat(50_000);
  for (let index = 0; index < megabytes; index += 1)
    await Promise.all(
      Array.from({ length: 20 }, (_, each) => trail.record(aRun({ code, runId: `${index}-${each}` }))),
    );
}

describe('rotate', () => {
  test('a flood stays within the quota, and what is left verifies and tells what was dropped', async () => {
    const trail = await world.open({ maxBytes: 4 * MB });
    await trail.record(aRun({ runId: 'first' }));
    await flood(trail, 60);
    expect(bytesIn(world.folder)).toBeLessThan(4 * MB + LOG);
    expect(statSync(world.database).size).toBeLessThan(5 * MB);
    await trail.record(aRun({ runId: 'last' }));
    expect([trail.get('first'), trail.get('last')]).toEqual([
      undefined,
      expect.objectContaining({ kind: 'run' }),
    ]);
    const found = await trail.verify();
    expect(found).toMatchObject({ ok: true, problems: [] });
    const [oldest] = (await world.entries()).slice(0, 1);
    expect(found.removed?.through).toBe(oldest!.seq - 1);
    const [pruned] = trail.list({ kind: 'server', limit: 1 });
    expect(pruned).toMatchObject({
      client: 'pungi',
      data: { event: 'pruned', details: { quotaBytes: 4 * MB, from: expect.any(Number) } },
    });
  });

  test('a trail that has grown beyond its quota is brought back when it is opened', async () => {
    const large = await world.open();
    await flood(large, 6);
    await large.close();
    const trail = await world.open({ maxBytes: 2 * MB });
    await until(async () => (await trail.verify()).removed !== null, 'old entries are dropped');
    await trail.close();
    const reader = await openTrailForReading(world.folder);
    expect(reader.list({ limit: 1000 }).length).toBeLessThan(45);
    expect(await reader.verify()).toMatchObject({ ok: true });
    reader.close();
  });

  test('list, get and export go on while entries are dropped', async () => {
    const trail = await world.open({ maxBytes: 2 * MB });
    const flooding = flood(trail, 12);
    const seen: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      for await (const line of trail.export({ kind: 'run' })) seen.push(JSON.parse(line).seq);
      trail.list({ limit: 10 });
      trail.get('0-0');
    }
    await flooding;
    expect(seen.length).toBeGreaterThan(0);
    expect(await trail.verify()).toMatchObject({ ok: true });
  });

  test('several servers on one trail keep to it together, and drop no more than they must', async () => {
    const writers = ['a', 'b', 'c'].map((name) => world.start('flooding', [name, '400', String(4 * MB)]));
    expect(await Promise.all(writers.map(({ exited }) => exited))).toEqual([0, 0, 0]);
    expect(statSync(world.database).size).toBeLessThan(6 * MB);
    const reader = await openTrailForReading(world.folder);
    const { ok, problems, entries } = await reader.verify();
    reader.close();
    expect({ ok, problems }).toEqual({ ok: true, problems: [] });
    // 20 kB each: of 4 MB about half are kept at the least.
    expect(entries).toBeGreaterThan(80);
  }, 120_000);

  test('kill -9 while entries are dropped leaves a whole chain, and the next server finishes it', async () => {
    for (let round = 0; round < (RUNS_ALL ? 8 : 2); round += 1) {
      const writer = world.start('flooding', [`round-${round}`, '1000000', String(2 * MB)]);
      const enough = 100 + Math.floor(Math.random() * 300);
      await until(() => writer.lines().length >= enough, `${enough} entries are acknowledged`);
      writer.child.kill('SIGKILL');
      await writer.exited;
      const reader = await openTrailForReading(world.folder);
      const { problems } = await reader.verify();
      expect(problems).toEqual([]);
      const newest = writer.lines().at(-1)!.split(' ')[1]!;
      expect(reader.get(newest)).toBeDefined();
      reader.close();
    }
    expect(statSync(world.database).size).toBeLessThan(4 * MB);
  }, 120_000);

  test('what a server announced and was killed in is finished before anything else is dropped', async () => {
    const first = await world.open();
    await flood(first, 3);
    const details = { quotaBytes: 2 * MB, from: 1, through: 40 };
    const data = { event: 'pruned' as const, details };
    const { seq } = await first.record({ kind: 'server', client: 'pungi', token: null, data });
    await first.close();
    const trail = await world.open({ maxBytes: 2 * MB });
    await until(async () => ((await trail.verify()).removed?.through ?? 0) >= 40, 'the entries are dropped');
    expect(trail.list({ kind: 'server' }).map((entry) => entry.seq)).toEqual([seq]);
    expect(await trail.verify()).toMatchObject({ ok: true });
  });

  test('lock files count, and go with the entries that name them', async () => {
    const trail = await world.open({ maxBytes: 2 * MB });
    for (let index = 0; index < 30; index += 1) {
      const text = `${index}\n`.padEnd(200_000, '#');
      const lock = { sha256: sha256(text), text };
      const run = aRun({ runId: `${index}` });
      await trail.record({ ...run, data: { ...run.data, environmentLock: lock.sha256 } }, lock);
    }
    await trail.close();
    expect(bytesIn(join(world.folder, 'locks'))).toBeLessThan(2 * MB);
    const reader = await openTrailForReading(world.folder);
    expect(await reader.verify()).toMatchObject({ ok: true });
    reader.close();
  });
});

describe('refuse', () => {
  test('runs are refused before they run, with what to do; pruning makes room again', async () => {
    const recorder = world.record({ maxBytes: 2 * MB, whenFull: 'refuse' });
    await recorder.ready();
    const facts = someFacts({ code: '#'.repeat(50_000) });
    const refusal = await (async () => {
      for (let index = 0; index < 100; index += 1) {
        await recorder.ready();
        await recorder.run(facts);
      }
    })().catch((error) => error);
    expect(refusal).toMatchObject({
      code: 'AUDIT_UNAVAILABLE',
      message: expect.stringMatching(/is full: it takes 2 MB \(AUDIT_MAX_MB\)\. .*pungi audit prune.*rotate/),
    });
    expect(recorder.problem).toBe(refusal.message);
    // What was admitted before is still recorded.
    await recorder.run(someFacts({ code: '1' }));
    const other = await world.open();
    await other.prune(new Date(Date.now() + 1000));
    await recorder.ready();
    await recorder.run(facts);
    expect(recorder.problem).toBeNull();
    expect(await other.verify()).toMatchObject({ ok: true });
  });

  test('a record that does not fit is refused, and nothing is dropped for it', async () => {
    const trail = await world.open({ maxBytes: 2 * MB, whenFull: 'refuse' });
    const refusal = await flood(trail, 10).catch((error) => error);
    expect(refusal).toMatchObject({ code: 'AUDIT_UNAVAILABLE', details: { audit: 'full' } });
    expect(statSync(world.database).size).toBeLessThan(3 * MB);
    expect(await trail.verify()).toMatchObject({ ok: true, removed: null });
  });
});

describe('one entry', () => {
  test.each([
    ['code that is six times as long when escaped', { code: '\u0001'.repeat(2 * MB) }],
    ['inputs of many megabytes', { inputs: { stdin: 'x'.repeat(6 * MB), context: ['y'.repeat(5 * MB)] } }],
  ])('with %s is bounded', (_, facts) => {
    const record = runRecord(someFacts(facts));
    expect(JSON.stringify(record).length).toBeLessThan(5 * MB);
    expect(record.data).toMatchObject({ codeSha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test('names size and hash of inputs that are not kept', () => {
    const inputs = { stdin: 'x'.repeat(2 * MB) };
    const text = JSON.stringify(inputs);
    expect(runRecord(someFacts({ inputs })).data).toMatchObject({
      inputs: { omitted: { bytes: text.length, sha256: sha256(text) } },
    });
  });
});

test('files of others in the folder of lock files stay', async () => {
  const trail = await world.open({ maxBytes: 2 * MB });
  mkdirSync(join(world.folder, 'locks'), { recursive: true });
  writeFileSync(join(world.folder, 'locks', 'note.txt'), 'mine');
  await flood(trail, 5);
  expect(readdirSync(join(world.folder, 'locks'))).toEqual(['note.txt']);
});
