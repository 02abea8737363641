import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/audit/database.js';
import { PageCheck } from '../../src/audit/page-check.js';
import type { TrailPage } from '../../src/audit/trail-pages.js';
import { openTrailForReading } from '../../src/audit/trail-reader.js';
import { aRun } from './fixtures/records.js';
import { TrailWorld } from './trail-world.js';

let world: TrailWorld;
beforeEach(async () => {
  world = new TrailWorld();
  await fill(6);
});
afterEach(() => world.end());

/** One of the entries does not fit into a page. */
async function fill(count: number): Promise<void> {
  const trail = await world.open();
  for (let index = 0; index < count; index += 1)
    await trail.record(aRun({ runId: `run-${index}`, code: index === 2 ? 'ä'.repeat(5000) : 'print(1)' }));
  await trail.close();
}

/** Reads the trail in pages of so many bytes, each of which somebody between may change. */
async function checked(
  mostBytes = 1500,
  onPage: (page: TrailPage) => TrailPage | undefined = () => undefined,
) {
  const reader = await openTrailForReading(world.folder);
  try {
    const { seq } = reader.head();
    const check = new PageCheck(new Set([seq]));
    let pages = 0;
    for (let next = check.next; next !== undefined; next = check.next) {
      const page = reader.page(next, mostBytes);
      pages += 1;
      check.take(onPage(page) ?? page);
    }
    return { ...check.result(), pages, id: check.id, isSame: check.hashAt(seq) === reader.hashAt(seq) };
  } finally {
    reader.close();
  }
}

const sentences = async () => (await checked()).problems.map(({ problem }) => problem);
const tamper = (sql: string) => world.tamper((database: Database) => database.exec(sql));

test('the pages of a trail give its chain again', async () => {
  const found = await checked();
  expect(found).toMatchObject({ ok: true, entries: 7, head: { seq: 7 }, removed: null, isSame: true });
  expect(found.pages).toBeGreaterThan(8);
  const reader = await openTrailForReading(world.folder);
  expect(found.id).toBe(reader.id());
  reader.close();
});

test('entries that were pruned are no problem, and the chain begins after them', async () => {
  const trail = await world.open();
  await trail.prune(new Date(Date.now() + 1000));
  await trail.close();
  await fill(3);
  expect(await checked()).toMatchObject({ ok: true, entries: 4, head: { seq: 11 }, removed: { through: 7 } });
});

test('a changed, a replaced, a removed entry and a cut tail are named', async () => {
  await tamper(`UPDATE entries SET body = replace(body, 'ä', 'e') WHERE seq = 4`);
  expect(await sentences()).toEqual(['Entry 4 was changed: it does not have its hash.']);
  await tamper(`UPDATE entries SET prev_hash = '${'f'.repeat(64)}' WHERE seq = 6`);
  expect(await sentences()).toContain('Entry 5 was replaced: the next entry holds another hash.');
  await tamper('DELETE FROM entries WHERE seq = 3');
  expect(await sentences()).toContain('Entry 3 is missing: later entries refer to them.');
  await tamper('DELETE FROM entries WHERE seq > 5');
  expect(await sentences()).toContain('Entries 6 to 7 are missing: the stored head refers to them.');
});

test('a cut that the trail did not sign is not believed', async () => {
  const forge = (page: TrailPage): TrailPage => {
    const { seq, hash } = page.head;
    const cut = { seq, hash, role: 'cut' as const, time: '2026-01-01', previous: 0, signature: 'AAAA' };
    return { ...page, cut };
  };
  expect((await checked(1500, forge)).problems).toEqual([
    { seq: 7, problem: 'The cut after entry 7 has a bad signature.' },
  ]);
});

test('pages that lead nowhere end the check, and another trail in its place is noticed', async () => {
  const nothing = await checked(1500, (page) => ({ ...page, pieces: [] }));
  expect(nothing.problems).toMatchObject([{ seq: 1 }]);
  const same = await checked(1500, (page) => ({
    ...page,
    pieces: page.pieces.map((piece) => ({ ...piece, body: Buffer.alloc(0), isLast: false })),
  }));
  expect(same.ok).toBe(false);
  let pages = 0;
  const other = await checked(1500, (page) => (++pages > 2 ? { ...page, publicKey: 'another' } : undefined));
  expect(other.problems).toMatchObject([
    { problem: 'Another trail took the place of this one while it was read.' },
  ]);
});
