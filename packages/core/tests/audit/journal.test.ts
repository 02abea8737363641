import { execFileSync } from 'node:child_process';
import {
  chownSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RUNS_ALL } from '../../../../tests/support/long-tests.js';
import { until } from '../../../../tests/support/until.js';
import { Database, transactNow } from '../../src/audit/database.js';
import { adoptAbandoned } from '../../src/audit/journal.js';
import { openTrailForReading } from '../../src/audit/trail-reader.js';
import { verifyTrail } from '../../src/audit/verify.js';
import { Writer } from '../../src/audit/writer.js';
import { aRun, sha256 } from './fixtures/records.js';
import { TrailWorld, type Writing } from './trail-world.js';

let world: TrailWorld;
beforeEach(() => {
  world = new TrailWorld();
});
afterEach(() => world.end());

/** How often a process that notes is killed. */
const ROUNDS = RUNS_ALL ? 6 : 2;
/** No process can have this id. */
const NOBODY = 2 ** 22 + 1;
const journals = () => readdirSync(world.folder).filter((name) => name.startsWith('journal.'));
const journalText = () =>
  journals()
    .map((name) => readFileSync(join(world.folder, name), 'utf8'))
    .join('');
/** In the order of the chain; they are listed by time. */
const idsIn = async () =>
  (await world.entries())
    .sort((one, other) => one.seq - other.seq)
    .flatMap(({ kind, data }) => (kind === 'run' ? [data.runId] : []));
const line = (serial: number, runId: string) =>
  `${serial}\t${JSON.stringify({ ...aRun({ runId }), time: new Date().toISOString() })}\t${serial}\n`;

/** A trail with one entry, closed, and what a killed process left in its journal. */
async function leftBehind(text: string, minutesAgo = 0): Promise<string> {
  const trail = await world.open();
  await trail.record(aRun({ runId: 'before' }));
  await trail.close();
  return leave(text, minutesAgo);
}

function leave(text: string, minutesAgo = 0): string {
  const path = join(world.folder, `journal.${NOBODY}.00ff`);
  writeFileSync(path, text, { mode: 0o600 });
  const then = Date.now() / 1000 - minutesAgo * 60;
  utimesSync(path, then, then);
  return path;
}

test('a noted entry is in the journal when it is acknowledged, and whoever reads sees it at once', async () => {
  const trail = await world.open();
  await trail.note(aRun({ runId: 'noted' }));
  expect(journalText()).toContain('"noted"');
  expect(await idsIn()).toEqual(['noted']);
  expect(trail.get('noted')?.seq).toBe(2);
  expect(await verifyTrail(world.folder)).toMatchObject({ ok: true, entries: 2 });
});

test('a noted entry is folded by itself', async () => {
  const trail = await world.open();
  await trail.note(aRun({ runId: 'noted' }));
  const database = await Database.connect(world.database, 'read');
  const count = database.prepare('SELECT count(*) AS entries FROM entries');
  await until(() => (count.get() as { entries: number }).entries === 2, 'the journal is folded');
  database.close();
});

test('lines that are written over folded ones are folded, and what is left of those is not', async () => {
  const trail = await world.open();
  await trail.note(aRun({ runId: 'long', code: '#'.repeat(5000) }));
  await trail.note(aRun({ runId: 'first' }));
  expect(trail.get('first')).toBeDefined();
  for (let round = 0; round < 30; round += 1) {
    await trail.note(aRun({ runId: `round-${round}`, code: '#'.repeat(round * 37) }));
    expect(await idsIn()).toHaveLength(round + 3);
  }
  expect(await verifyTrail(world.folder)).toMatchObject({ ok: true });
});

test('entries stay in their order, however they were recorded', async () => {
  const trail = await world.open();
  for (let index = 0; index < 300; index += 1)
    await trail[index % 5 === 4 ? 'record' : 'note'](aRun({ runId: `run-${index}` }));
  await trail.close();
  expect(await idsIn()).toEqual(Array.from({ length: 300 }, (_, index) => `run-${index}`));
  expect(await verifyTrail(world.folder)).toMatchObject({ ok: true, entries: 301 });
});

test('the journal stays small, and a large entry is not written into it', async () => {
  const trail = await world.open();
  let most = 0;
  for (let index = 0; index < 500; index += 1) {
    await trail.note(aRun({ runId: `run-${index}` }));
    most = Math.max(most, journalText().length);
  }
  expect(most).toBeLessThan(70 * 1024);
  await trail.note(aRun({ runId: 'large', code: '#'.repeat(100_000) }));
  expect(journalText()).not.toContain('"large"');
  expect((await idsIn()).at(-1)).toBe('large');
});

test('a trail that is closed leaves no journal behind', async () => {
  const trail = await world.open();
  await trail.note(aRun());
  await trail.close();
  expect(journals()).toEqual([]);
  expect(await idsIn()).toHaveLength(1);
});

test('with AUDIT_SYNC=full nothing is journaled', async () => {
  const trail = await world.open({ sync: 'full' });
  await trail.note(aRun({ runId: 'synced' }));
  expect(journals()).toEqual([]);
  expect(await idsIn()).toEqual(['synced']);
});

test('code that must not be stored is not in the journal either', async () => {
  const trail = await world.open({ storeCode: false });
  await trail.note(aRun({ code: 'secret = 1' }));
  expect(journalText()).toContain(sha256('secret = 1'));
  expect(journalText()).not.toContain('secret');
});

describe('the journal of a killed process', () => {
  test('is folded by the next one that opens the trail, up to a line that was cut', async () => {
    await leftBehind(line(1, 'one') + line(2, 'two') + line(3, 'cut').slice(0, 100));
    await world.open();
    expect(await idsIn()).toEqual(['before', 'one', 'two']);
    expect(await verifyTrail(world.folder)).toMatchObject({ ok: true });
  });

  test('is folded without a line that was cut while it was written over another one', async () => {
    const [old, next] = [line(1, 'old'), line(2, 'new')];
    expect(old).toHaveLength(next.length);
    const path = await leftBehind(old);
    expect(await idsIn()).toEqual(['before', 'old']);
    for (let cut = 0; cut < next.length - 1; cut += 13) {
      writeFileSync(path, next.slice(0, cut) + old.slice(cut));
      expect(await idsIn()).toEqual(['before', 'old']);
    }
    writeFileSync(path, next);
    expect(await idsIn()).toEqual(['before', 'old', 'new']);
  });

  test('is folded once, also if it could not be emptied afterwards', async () => {
    const text = line(1, 'one') + line(2, 'two');
    const path = await leftBehind(text);
    expect(await idsIn()).toEqual(['before', 'one', 'two']);
    expect(readFileSync(path, 'utf8')).toBe(text);
    await world.open();
    expect(await idsIn()).toEqual(['before', 'one', 'two']);
  });

  test.each([
    ['zeros', '\0'.repeat(500)],
    ['null', '7\tnull\t7'],
    ['an empty object', '7\t{}\t7'],
    ['wrong types', '7\t{"kind":"run","client":7,"data":{}}\t7'],
    ['words', 'nonsense'],
  ])('is folded but for lines that are no entries: %s', async (_, garbage) => {
    await leftBehind(`${line(1, 'one')}${garbage}\n${line(8, 'two')}`);
    await world.open();
    expect(await idsIn()).toEqual(['before', 'one', 'two']);
  });

  test('is removed once it is certain that it was killed, and forgotten', async () => {
    await leftBehind(line(1, 'one'), 2);
    await world.open();
    expect(journals()).toEqual([]);
    expect(await idsIn()).toEqual(['before', 'one']);
    await world.tamper((database) => expect(database.prepare('SELECT * FROM journals').all()).toEqual([]));
  });

  test.each(['AABB', 'ABAB', 'ABBA'])(
    'is folded once by two servers that adopt it at the same moment, in the order %s',
    async (order) => {
      await leftBehind(line(1, 'one') + line(2, 'two'), 2);
      const turns = [...order];
      const waiting: (() => void)[] = [];
      const adopt = async (server: string) => {
        const database = await Database.connect(world.database, 'write');
        await adoptAbandoned(world.folder, async (fold) => {
          while (turns[0] !== server) await new Promise<void>((resolve) => waiting.push(resolve));
          transactNow(database, () => fold(database, new Writer(database)));
          turns.shift();
          for (const resolve of waiting.splice(0)) resolve();
        });
        database.close();
      };
      await Promise.all([adopt('A'), adopt('B')]);
      expect(await idsIn()).toEqual(['before', 'one', 'two']);
    },
  );

  test('is left alone for a moment, in case its process is alive in another container', async () => {
    await leftBehind(line(1, 'one'));
    await world.open();
    expect(journals()).toHaveLength(1);
  });
});

test('a process whose journal was removed loses nothing that it notes afterwards', async () => {
  const trail = await world.open();
  await trail.note(aRun({ runId: 'one' }));
  expect(await idsIn()).toEqual(['one']);
  rmSync(join(world.folder, journals()[0]!));
  await trail.note(aRun({ runId: 'two' }));
  expect(await idsIn()).toEqual(['one', 'two']);
  await trail.close();
  expect(await verifyTrail(world.folder)).toMatchObject({ ok: true });
});

describe('a journal that no process of this user wrote', () => {
  test('is not followed if it is a link', async () => {
    const path = await leftBehind('');
    rmSync(path);
    const elsewhere = `${world.folder}-elsewhere`;
    writeFileSync(elsewhere, line(1, 'planted'));
    symlinkSync(elsewhere, path);
    expect(await idsIn()).toEqual(['before']);
    await expect(world.open()).rejects.toMatchObject({ details: { audit: 'unusable' } });
    rmSync(elsewhere);
  });

  test('does not block the trail if it is a pipe', async () => {
    const path = await leftBehind('');
    rmSync(path);
    execFileSync('mkfifo', [path]);
    expect(await idsIn()).toEqual(['before']);
    await expect(world.open()).rejects.toMatchObject({ details: { audit: 'unusable' } });
  });

  test.skipIf(process.getuid?.() !== 0)('is not believed if it belongs to another user', async () => {
    chownSync(await leftBehind(line(1, 'planted')), 65534, 65534);
    expect(await idsIn()).toEqual(['before']);
    await expect(world.open()).rejects.toMatchObject({ details: { audit: 'unusable' } });
  });
});

test('the lock file that a noted entry names outlives the removal of all older entries', async () => {
  const text = '# the lock of an environment\n';
  const lock = { sha256: sha256(text), text };
  const named = (runId: string) => {
    const run = aRun({ runId });
    return { ...run, data: { ...run.data, environmentLock: lock.sha256 } };
  };
  const [trail, other] = [await world.open(), await world.open()];
  await trail.record(named('old'), lock);
  const cut = new Date(Date.now() + 1);
  await until(() => Date.now() > cut.getTime(), 'time has passed');
  await trail.note(named('new'), lock);
  await other.prune(cut);
  const reader = await openTrailForReading(world.folder);
  expect(reader.lockText(lock.sha256)).toBe(text);
  expect(reader.get('old')).toBeUndefined();
  expect((await reader.verify()).problems).toEqual([]);
  reader.close();
});

describe('kill -9 of processes that note', () => {
  /** Every acknowledged entry is there once, in its order, and the chain is whole. */
  async function checkAcknowledged(writers: Writing[]): Promise<void> {
    const reader = await openTrailForReading(world.folder);
    const lines: string[] = [];
    for await (const text of reader.export({ kind: 'run' })) lines.push(JSON.parse(text).data.runId);
    reader.close();
    expect(new Set(lines).size).toBe(lines.length);
    const recorded = new Set(lines);
    const acknowledged = writers.flatMap((writer) => writer.lines());
    expect(acknowledged.filter((runId) => !recorded.has(runId))).toEqual([]);
    expect((await verifyTrail(world.folder)).problems).toEqual([]);
  }

  test('at any point loses nothing that was acknowledged', async () => {
    const killed: Writing[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const enough = 1 + Math.floor(Math.random() * 2000);
      const writer = world.start('noting', [`round-${round}`, '4']);
      await until(() => writer.lines().length >= enough, `${enough} entries are acknowledged`);
      writer.child.kill('SIGKILL');
      await writer.exited;
      killed.push(writer);
    }
    await checkAcknowledged(killed);
  }, 120_000);

  test('while others note and read the same trail', async () => {
    const writers = ['a', 'b', 'c'].map((name) => world.start('noting', [name, '2']));
    for (const writer of writers) {
      await until(() => writer.lines().length > 300, 'it notes');
      // A reader folds what is in the journals of all of them.
      expect(await idsIn()).not.toEqual([]);
      writer.child.kill('SIGKILL');
      await writer.exited;
    }
    await checkAcknowledged(writers);
  }, 120_000);
});
