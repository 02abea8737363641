import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import type { AuditTrail } from '../../src/audit/audit-trail.js';
import { LockTexts } from '../../src/audit/lock-texts.js';
import { verifyTrail } from '../../src/audit/verify.js';
import { aRun, sha256 } from './fixtures/records.js';
import { TrailWorld } from './trail-world.js';

let world: TrailWorld;
beforeEach(() => {
  world = new TrailWorld();
});
afterEach(() => world.end());

const lockOf = (text: string) => ({ sha256: sha256(text), text });
const APPLE = lockOf('apple==1.0 \\\n    --hash=sha256:00\n');
const BANANA = lockOf('banana==2.0\n');
const fileOf = ({ sha256 }: { sha256: string }) => join(world.folder, 'locks', `${sha256}.lock`);

function record(trail: AuditTrail, lock: typeof APPLE, runId = 'run'): Promise<{ seq: number }> {
  const run = aRun({ runId });
  return trail.record({ ...run, data: { ...run.data, environmentLock: lock.sha256 } }, lock);
}

describe('a lock file that an entry names', () => {
  test('is kept once, for its owner alone, and given back as it was', async () => {
    const trail = await world.open();
    await record(trail, APPLE);
    const { ino } = statSync(fileOf(APPLE));
    await record(trail, APPLE);
    await record(trail, BANANA);
    expect(statSync(fileOf(APPLE)).ino).toBe(ino);
    expect(statSync(fileOf(APPLE)).mode & 0o777).toBe(0o600);
    expect(statSync(join(world.folder, 'locks')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(world.folder, 'locks')).sort()).toEqual(
      [APPLE, BANANA].map((lock) => `${lock.sha256}.lock`).sort(),
    );
    expect([trail.lockText(APPLE.sha256), trail.lockText(BANANA.sha256)]).toEqual([APPLE.text, BANANA.text]);
    expect(await trail.verify()).toMatchObject({ ok: true, problems: [] });
  });

  test('is there before the entry is: what cannot be kept is not recorded', async () => {
    const trail = await world.open();
    writeFileSync(join(world.folder, 'locks'), 'in the way');
    await expect(record(trail, APPLE)).rejects.toMatchObject({ code: 'AUDIT_UNAVAILABLE' });
    expect(trail.get('run')).toBeUndefined();
    rmSync(join(world.folder, 'locks'));
    await record(trail, APPLE);
    expect(await trail.verify()).toMatchObject({ ok: true });
  });

  test('must have the hash by which it is named', async () => {
    const trail = await world.open();
    await expect(record(trail, { sha256: BANANA.sha256, text: APPLE.text })).rejects.toThrow(
      'is not the hash',
    );
    expect(existsSync(fileOf(BANANA))).toBe(false);
  });
});

describe('a name', () => {
  test.each(['../audit.key', '..', '/etc/passwd', '', 'a'.repeat(63), 'A'.repeat(64), `${'a'.repeat(64)}\n`])(
    'that is no hash is no name of a file: %j',
    async (name) => {
      mkdirSync(join(world.folder, 'locks'), { recursive: true });
      const texts = new LockTexts(join(world.folder, 'locks'));
      expect(() => texts.read(name)).toThrow('is not the hash of a lock file');
      expect(() => texts.keep({ sha256: name, text: 'x' })).toThrow('is not the hash of a lock file');
      expect(readdirSync(join(world.folder, 'locks'))).toEqual([]);
    },
  );
});

describe('tampering with a lock file', () => {
  const replaceWith = (make: (path: string) => void) => () => {
    unlinkSync(fileOf(APPLE));
    make(fileOf(APPLE));
  };
  test.each<[string, () => void, RegExp]>([
    ['that is changed', () => writeFileSync(fileOf(APPLE), 'apple==9.9\n'), /was changed/],
    ['that is emptied', () => writeFileSync(fileOf(APPLE), ''), /was changed/],
    ['that is removed', () => unlinkSync(fileOf(APPLE)), /is missing/],
    ['that is another one', replaceWith((path) => linkSync(fileOf(BANANA), path)), /was changed/],
    ['that is a link', replaceWith((path) => symlinkSync(fileOf(BANANA), path)), /is not readable/],
    ['that is a folder', replaceWith((path) => mkdirSync(path)), /is not readable/],
  ])('%s is found out, and the newest entry that names it is told', async (_, tamper, words) => {
    const trail = await world.open();
    await record(trail, APPLE, 'a');
    const { seq } = await record(trail, APPLE, 'b');
    await record(trail, BANANA, 'c');
    await trail.close();
    tamper();
    const { ok, problems } = await verifyTrail(world.folder);
    expect(ok).toBe(false);
    expect(problems).toEqual([{ seq, problem: expect.stringMatching(words) }]);
    expect(problems[0]!.problem).toContain(`Entry ${seq}`);
    const again = await world.open();
    expect(() => again.lockText(APPLE.sha256)).toThrow(words);
  });
});

describe('pruning', () => {
  async function later(): Promise<Date> {
    const now = Date.now();
    await until(() => Date.now() > now, 'the clock moves');
    return new Date();
  }

  test('removes the lock files that no entry names any more, and what a killed process left', async () => {
    const trail = await world.open();
    await record(trail, APPLE, 'old');
    await record(trail, BANANA, 'old');
    const draft = join(world.folder, 'locks', `${APPLE.sha256}.lock.0f.tmp`);
    writeFileSync(draft, 'half');
    const before = await later();
    await record(trail, BANANA, 'new');
    await trail.prune(before);
    expect(readdirSync(join(world.folder, 'locks'))).toEqual([`${BANANA.sha256}.lock`]);
    expect(await trail.verify()).toMatchObject({ ok: true });
  });

  test('does not take away what another server is about to name', async () => {
    const [pruning, writing] = [await world.open(), await world.open()];
    for (let round = 0; round < 20; round += 1) {
      await record(writing, APPLE, `before-${round}`);
      await Promise.all([pruning.prune(await later()), record(writing, APPLE, `during-${round}`)]);
      expect(readFileSync(fileOf(APPLE), 'utf8')).toBe(APPLE.text);
      expect(await pruning.verify()).toMatchObject({ ok: true, problems: [] });
    }
  });
});

test('a folder of lock files that others could enter is closed with the folder around it', async () => {
  const trail = await world.open();
  await record(trail, APPLE);
  await trail.close();
  chmodSync(world.folder, 0o755);
  await world.open();
  expect(statSync(world.folder).mode & 0o777).toBe(0o700);
});
