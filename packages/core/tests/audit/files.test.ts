import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BLOCKING_WAIT_MS, Database } from '../../src/audit/database.js';
import { filesIn } from '../../src/audit/folder.js';
import { isFresh, TABLES } from '../../src/audit/open-database.js';
import { verifyTrail } from '../../src/audit/verify.js';
import { aRun } from './fixtures/records.js';
import { TrailWorld } from './trail-world.js';

let world: TrailWorld;
beforeEach(() => {
  world = new TrailWorld();
});
afterEach(() => world.end());

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const trouble = (audit: string) => ({ name: 'PungiError', details: { audit } });

const MAKES_FOLDERS = `
const { parentPort, workerData } = require('node:worker_threads');
import(${JSON.stringify(pathToFileURL(resolve('dist/core/src/audit/folder.js')).href)}).then(({ makePrivate }) => {
  try {
    for (let index = 0; index < 100; index += 1) makePrivate(workerData + index + '/above/audit');
    parentPort.postMessage('made');
  } catch (error) {
    parentPort.postMessage(error.message);
  }
});`;

/** A trail with entries, closed. */
async function closedTrail(entries = 3): Promise<void> {
  const trail = await world.open();
  for (let index = 0; index < entries; index += 1) await trail.record(aRun());
  await trail.close();
}

test.each(['write', 'read'] as const)('to %s it, nothing is put into a temporary file', async (access) => {
  await closedTrail();
  const database = await Database.connect(world.database, access);
  expect(database.prepare('PRAGMA temp_store').get()).toEqual({ temp_store: 2 });
  database.close();
});

test('a trail that another process makes meanwhile is not taken for the database of another program', async () => {
  mkdirSync(world.folder, { mode: 0o700, recursive: true });
  writeFileSync(world.database, '');
  const [database, other] = [
    await Database.connect(world.database, 'write'),
    await Database.connect(world.database, 'write'),
  ];
  const prepare = database.prepare.bind(database);
  vi.spyOn(database, 'prepare').mockImplementation((sql) => {
    // Between one look and the next; where it may not, it tries again later.
    if (sql === 'PRAGMA user_version')
      try {
        other.exec(`BEGIN IMMEDIATE; ${TABLES}; COMMIT`);
      } catch {
        other.exec('ROLLBACK');
      }
    return prepare(sql);
  });
  expect(isFresh(database, filesIn(world.folder))).toBe(true);
  other.exec(`BEGIN IMMEDIATE; ${TABLES}; COMMIT`);
  expect(isFresh(other, filesIn(world.folder))).toBe(false);
  database.close();
  other.close();
});

describe('the folder', () => {
  test('is made with its parents, also by several at the same time', async () => {
    const made = Array.from({ length: 4 }, async () => {
      const thread = new Worker(MAKES_FOLDERS, { eval: true, workerData: world.folder });
      return once(thread, 'message');
    });
    expect(await Promise.all(made)).toEqual([['made'], ['made'], ['made'], ['made']]);
  });

  test('and all files in it are for their owner alone', async () => {
    const trail = await world.open();
    await trail.record(aRun());
    expect(modeOf(world.folder)).toBe('700');
    const names = readdirSync(world.folder).sort();
    expect(names).toEqual(['audit.db', 'audit.db-shm', 'audit.db-wal', 'audit.key', 'audit.pub']);
    for (const name of names) expect([name, modeOf(join(world.folder, name))]).toEqual([name, '600']);
  });

  test('is closed to others where it was open', async () => {
    await closedTrail();
    chmodSync(world.folder, 0o755);
    chmodSync(world.database, 0o644);
    await world.open();
    expect([modeOf(world.folder), modeOf(world.database)]).toEqual(['700', '600']);
  });

  test('is refused, and left as it is, where it is open and holds files of others', async () => {
    mkdirSync(world.folder);
    chmodSync(world.folder, 0o755);
    writeFileSync(join(world.folder, 'notes.txt'), '');
    await expect(world.open()).rejects.toMatchObject(trouble('unusable'));
    expect(modeOf(world.folder)).toBe('755');
  });
});

describe('a database that is not the trail', () => {
  const unchanged = async (audit: string) => {
    const before = readFileSync(world.database);
    await expect(world.open()).rejects.toMatchObject(trouble(audit));
    expect(readFileSync(world.database).equals(before)).toBe(true);
  };

  test('but text is refused', async () => {
    mkdirSync(world.folder, { mode: 0o700 });
    writeFileSync(world.database, 'not a database, but long enough to have a header. '.repeat(100));
    await unchanged('damaged');
  });

  test("but another program's is refused", async () => {
    mkdirSync(world.folder, { mode: 0o700 });
    await world.tamper((database) => database.exec('CREATE TABLE bookmarks (url TEXT)'));
    await unchanged('foreign');
  });

  test('but that of a later version is refused', async () => {
    await closedTrail();
    await world.tamper((database) => database.exec('PRAGMA user_version = 99'));
    await unchanged('foreign');
  });

  test('any more, because it was emptied, is refused', async () => {
    await closedTrail();
    truncateSync(world.database, 0);
    await expect(world.open()).rejects.toMatchObject(trouble('damaged'));
    await expect(verifyTrail(world.folder)).rejects.toMatchObject(trouble('damaged'));
  });

  test('any more, because it is gone, is not made anew', async () => {
    await closedTrail();
    rmSync(world.database);
    await expect(world.open()).rejects.toMatchObject(trouble('damaged'));
    expect(readdirSync(world.folder)).not.toContain('audit.db');
  });

  test('as it was, because its pages were overwritten, is found out', async () => {
    await closedTrail(200);
    const bytes = readFileSync(world.database);
    bytes.fill(0xaa, Math.floor(bytes.length / 2));
    writeFileSync(world.database, bytes);
    const found = await verifyTrail(world.folder).catch((error) => error);
    if (found instanceof Error) expect(found).toMatchObject(trouble('damaged'));
    else expect(found.ok).toBe(false);
  });
});

describe('the keys', () => {
  test.each(['audit.key', 'audit.pub'])('of another trail in the place of %s are noticed', async (name) => {
    await closedTrail();
    const other = new TrailWorld();
    await (await other.open()).close();
    renameSync(join(other.folder, name), join(world.folder, name));
    await other.end();
    await expect(world.open()).rejects.toMatchObject(trouble('damaged'));
    const { ok, problems } = await verifyTrail(world.folder);
    expect(ok).toBe(name === 'audit.key');
    expect(problems.map(({ seq }) => seq)).toEqual(name === 'audit.key' ? [] : [1, 4]);
  });

  test('that are missing are not made anew', async () => {
    await closedTrail();
    rmSync(join(world.folder, 'audit.key'));
    await expect(world.open()).rejects.toMatchObject(trouble('damaged'));
  });

  test('get their name at the next start where the first was killed before that', async () => {
    await closedTrail();
    renameSync(join(world.folder, 'audit.key'), join(world.folder, 'audit.key.new'));
    rmSync(join(world.folder, 'audit.pub'));
    const trail = await world.open();
    expect(await trail.verify()).toMatchObject({ ok: true, problems: [] });
  });
});

describe('another program that holds the lock', () => {
  test('is waited for, and the server goes on meanwhile', async () => {
    const trail = await world.open();
    const other = await Database.connect(world.database, 'write');
    other.exec('BEGIN IMMEDIATE');
    let isRecorded = false;
    const recorded = trail.record(aRun()).then(() => (isRecorded = true));
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
    expect(isRecorded).toBe(false);
    other.exec('ROLLBACK');
    other.close();
    expect(await recorded).toBe(true);
  });

  test('for too long makes recording fail, and nothing is written', async () => {
    const trail = await world.open();
    const other = await Database.connect(world.database, 'write');
    other.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const turning = setInterval(() => (turns += 1), BLOCKING_WAIT_MS);
    await expect(trail.record(aRun())).rejects.toMatchObject(trouble('busy'));
    clearInterval(turning);
    expect(turns).toBeGreaterThan(10);
    other.exec('ROLLBACK');
    other.close();
    expect((await trail.record(aRun())).seq).toBe(2);
    expect(await trail.verify()).toMatchObject({ ok: true, entries: 2 });
  });
});
