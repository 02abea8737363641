import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { AuditRecorder } from '../../src/audit/recorder.js';
import { openTrailForReading } from '../../src/audit/trail-reader.js';
import { silentLogger } from '../../src/base/logger.js';
import { someFacts } from './fixtures/outcomes.js';
import { aRun } from './fixtures/records.js';
import { TrailWorld } from './trail-world.js';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;
let world: TrailWorld;
beforeEach(() => {
  world = new TrailWorld();
});
afterEach(() => world.end());

const closedTrail = async () => (await world.open()).close();
const refused = async (words: string) => {
  const error = await world.open().catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'AUDIT_UNAVAILABLE' });
  expect(error.message).toContain(words);
};

describe('a folder that somebody else has a hand in', () => {
  test.skipIf(!isRoot)('is refused where it belongs to another user', async () => {
    mkdirSync(world.folder, { mode: 0o700 });
    chownSync(world.folder, NOBODY, NOBODY);
    await refused('belongs to another user');
    expect(readdirSync(world.folder)).toEqual([]);
  });

  test('is closed where others could write to it, but nothing is in it', async () => {
    mkdirSync(world.folder);
    chmodSync(world.folder, 0o777);
    await closedTrail();
    expect(statSync(world.folder).mode & 0o777).toBe(0o700);
  });

  test.each(['audit.db', 'audit.key', 'audit.key.new'])(
    'is refused where others could write to it and %s is there already',
    async (name) => {
      mkdirSync(world.folder);
      writeFileSync(join(world.folder, name), '', { mode: 0o600 });
      chmodSync(world.folder, 0o777);
      await refused('can be written by other users');
      expect(readdirSync(world.folder)).toEqual([name]);
    },
  );

  test('is refused where it is a symbolic link, and what it leads to is left alone', async () => {
    const home = `${world.folder}-home`;
    mkdirSync(home);
    chmodSync(home, 0o755);
    symlinkSync(home, world.folder);
    await refused('is a symbolic link');
    expect([readdirSync(home), statSync(home).mode & 0o777]).toEqual([[], 0o755]);
  });

  test('that cannot be made anywhere is refused at once', async () => {
    await expect(world.open({ folder: '/proc/nothing/here' })).rejects.toMatchObject({
      code: 'AUDIT_UNAVAILABLE',
    });
  });
});

describe('a planted file', () => {
  test.each(['audit.db', 'audit.db-wal', 'audit.key', 'audit.pub'])(
    'that is a link in the place of %s is not followed',
    async (name) => {
      const target = `${world.folder}-target`;
      writeFileSync(target, 'precious');
      mkdirSync(world.folder, { mode: 0o700 });
      symlinkSync(target, join(world.folder, name));
      await refused(`a "${name}" that is not a file of yours`);
      expect(readFileSync(target, 'utf8')).toBe('precious');
    },
  );

  test.skipIf(!isRoot)('of another user is not believed', async () => {
    await closedTrail();
    chownSync(world.database, NOBODY, NOBODY);
    await refused('not a file of yours');
  });

  test('in the place of the folder of lock files is not written into', async () => {
    await closedTrail();
    const elsewhere = `${world.folder}-elsewhere`;
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(world.folder, 'locks'));
    await refused('is a symbolic link');
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});

describe('reading', () => {
  test('makes no trail where there is none', async () => {
    await expect(openTrailForReading(world.folder)).rejects.toThrow('There is no audit trail');
    expect(existsSync(world.folder)).toBe(false);
  });

  test('goes on while another process writes, and changes nothing of what it wrote', async () => {
    const trail = await world.open();
    await trail.record(aRun({ runId: 'first' }));
    const before = readFileSync(world.database);
    const reader = await openTrailForReading(world.folder);
    expect(reader.get('first')).toBeDefined();
    await trail.record(aRun({ runId: 'second' }));
    expect(reader.get('second')).toBeDefined();
    expect((await reader.verify()).ok).toBe(true);
    reader.close();
    expect(readFileSync(world.database).equals(before)).toBe(true);
  });

  test.skipIf(!isRoot)('as root leaves no file that the owner could not open', async () => {
    await closedTrail();
    for (const name of ['', ...readdirSync(world.folder)])
      chownSync(join(world.folder, name), NOBODY, NOBODY);
    const reader = await openTrailForReading(world.folder);
    expect(reader.get(1)).toBeDefined();
    const owners = readdirSync(world.folder).map((name) => lstatSync(join(world.folder, name)).uid);
    expect(new Set(owners)).toEqual(new Set([NOBODY]));
    reader.close();
  });
});

/** A file system of its own, which can be small, or closed for writing. */
class Disk {
  readonly place = mkdtempSync(join(tmpdir(), 'pungi-audit-disk-'));
  readonly folder = join(this.place, 'audit');

  constructor() {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1M', 'tmpfs', this.place], { stdio: 'pipe' });
  }

  close(): void {
    execFileSync('mount', ['-o', 'remount,ro', this.place]);
  }

  remove(): void {
    execFileSync('umount', ['--lazy', this.place]);
    rmSync(this.place, { recursive: true });
  }
}

function canMount(): boolean {
  try {
    new Disk().remove();
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!canMount())('a disk', () => {
  let disk: Disk;
  beforeEach(() => {
    disk = new Disk();
  });
  afterEach(() => disk.remove());

  const settings = () => ({
    folder: disk.folder,
    sync: 'normal' as const,
    storeCode: true,
    retentionDays: null,
  });

  test('that is full refuses runs, loses nothing that was acknowledged, and takes more when there is room', async () => {
    const ballast = join(disk.place, 'ballast');
    writeFileSync(ballast, Buffer.alloc(300_000));
    const recorder = new AuditRecorder(settings(), silentLogger);
    const acknowledged: string[] = [];
    const error = await (async () => {
      for (;;) {
        const facts = someFacts({ code: '#'.repeat(5000) });
        try {
          await recorder.run(facts);
        } catch (thrown) {
          return thrown as Error;
        }
        acknowledged.push(facts.outcome.runId);
      }
    })();
    expect(error).toMatchObject({ code: 'AUDIT_UNAVAILABLE' });
    expect(error.message).toContain(disk.folder);
    expect(recorder.problem).toBe(error.message);
    expect(acknowledged.length).toBeGreaterThan(3);
    rmSync(ballast);
    const late = someFacts();
    await until(
      () =>
        recorder.run(late).then(
          () => true,
          () => false,
        ),
      'there is room again',
    );
    expect(recorder.problem).toBeNull();
    const reader = await openTrailForReading(disk.folder);
    const found = [...acknowledged, late.outcome.runId].filter((runId) => reader.get(runId) !== undefined);
    expect(found).toEqual([...acknowledged, late.outcome.runId]);
    expect(await reader.verify()).toMatchObject({ ok: true });
    reader.close();
    await recorder.close();
  });

  test('that cannot be written refuses runs, and a trail on it that was closed can be read', async () => {
    const trail = await world.open();
    await trail.record(aRun({ runId: 'then' }));
    await trail.close();
    cpSync(world.folder, disk.folder, { recursive: true, filter: (path) => !/-(wal|shm)$/.test(path) });
    disk.close();
    const recorder = new AuditRecorder(settings(), silentLogger);
    await expect(recorder.run(someFacts())).rejects.toMatchObject({ code: 'AUDIT_UNAVAILABLE' });
    const reader = await openTrailForReading(disk.folder);
    expect(reader.get('then')).toBeDefined();
    expect(await reader.verify()).toMatchObject({ ok: true, entries: 2 });
    reader.close();
  });

  test('that cannot be written, with a trail that was not closed, says what to do', async () => {
    const trail = await world.open();
    await trail.record(aRun());
    // As a process that was killed leaves it.
    cpSync(world.folder, disk.folder, { recursive: true, filter: (path) => !path.endsWith('-shm') });
    disk.close();
    await expect(openTrailForReading(disk.folder)).rejects.toThrow('copy it to one');
  });
});
