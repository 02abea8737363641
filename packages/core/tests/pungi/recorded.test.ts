import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openTrailForReading } from '../../../pungi/src/index.js';
import { startPungi, temporaryFolder, withPungi } from '../engine/pungi.js';
import { openWorld } from '../environments/world.js';

const world = await openWorld();

/** What the trail says, the oldest first. */
async function entriesIn(folder: string) {
  const trail = await openTrailForReading(folder);
  try {
    return trail.list().toReversed();
  } finally {
    trail.close();
  }
}

test('a run that is made again after an installation is recorded both times', async () => {
  const folder = join(temporaryFolder(), 'audit');
  const pungi = world.start({ AUTO_INSTALL: 'true', AUDIT: 'true', AUDIT_DIR: folder });
  await pungi.environments.create({ venvName: 'filled-later' });
  const outcome = await pungi.run(
    { code: 'import cv2', venvName: 'filled-later' },
    { caller: { client: 'ann' } },
  );
  expect(outcome.verdict.kind).toBe('ok');
  const entries = (await entriesIn(folder)).filter(({ kind }) => kind === 'run' || kind === 'install');
  expect(entries).toMatchObject([
    { kind: 'install', client: 'ann', data: { action: 'install', environment: 'filled-later' } },
    { kind: 'run', client: 'ann', data: { verdict: { kind: 'python-error' } } },
    { kind: 'run', client: 'ann', data: { verdict: { kind: 'ok' }, runId: outcome.runId } },
  ]);
  const locks = entries.map(({ data }) => (data as { environmentLock: string | null }).environmentLock);
  expect(locks[2]).toBe(locks[0]);
  expect(locks[1]).not.toBe(locks[2]);
});

describe('where nothing can be recorded', () => {
  test('nothing is run, and everybody is told why', async () => {
    await withPungi({ AUDIT: 'true', AUDIT_DIR: '/proc/nowhere/audit' }, async (pungi) => {
      const lines: string[] = [];
      const outcome = await pungi.run({ code: 'print(1)' }, { onLine: ({ text }) => lines.push(text) });
      expect(outcome.verdict).toMatchObject({ kind: 'unrecorded', code: 'AUDIT_UNAVAILABLE' });
      expect(outcome.verdict).toMatchObject({ message: expect.stringContaining('AUDIT_DIR') });
      expect([outcome.stdout.text, lines]).toEqual(['', []]);
      expect(await pungi.health()).toMatchObject({
        status: 'unhealthy',
        audit: { enabled: true, problem: expect.stringContaining('/proc/nowhere/audit') },
      });
    });
  });

  test('an environment is made, and the caller told that this was not recorded', async () => {
    const pungi = world.start({ AUDIT: 'true', AUDIT_DIR: '/proc/nowhere/audit' });
    const told = await pungi.environments.create({ venvName: 'unrecorded' }).catch((error) => error);
    expect(told).toMatchObject({
      code: 'AUDIT_UNAVAILABLE',
      message: expect.stringContaining('was changed'),
    });
    expect(await pungi.environments.show('unrecorded')).toMatchObject({ state: 'ready' });
  });
});

test('with AUDIT=false nothing is written', async () => {
  const folder = join(temporaryFolder(), 'audit');
  await withPungi({ AUDIT: 'false', AUDIT_DIR: folder }, async (pungi) => {
    expect((await pungi.run({ code: '1' })).verdict.kind).toBe('ok');
    expect((await pungi.health()).audit).toEqual({ enabled: false, folder: null, problem: null });
  });
  expect(existsSync(folder)).toBe(false);
});

test('what runs of its own give is not in the trail: packages, analyses, probes', async () => {
  const folder = join(temporaryFolder(), 'audit');
  await withPungi({ AUDIT: 'true', AUDIT_DIR: folder, DEFAULT_PROFILE: 'strategic' }, async (pungi) => {
    await pungi.packages();
    expect((await pungi.probe({ code: 'import os' })).verdict.kind).toBe('ok');
  });
  expect((await entriesIn(folder)).filter(({ kind }) => ['run', 'denial'].includes(kind))).toEqual([]);
});

test('runs one after another leave one entry each', async () => {
  const folder = join(temporaryFolder(), 'audit');
  const pungi = startPungi({ AUDIT: 'true', AUDIT_DIR: folder });
  const ids: string[] = [];
  for (let n = 0; n < 20; n += 1) ids.push((await pungi.run({ code: `print(${n})` })).runId);
  await pungi.close();
  const runs = (await entriesIn(folder)).filter(({ kind }) => kind === 'run');
  expect(runs.map(({ data }) => (data as { runId: string }).runId)).toEqual(ids);
  const trail = await openTrailForReading(folder);
  expect(await trail.verify()).toMatchObject({ ok: true });
  trail.close();
});

test('the trail has the limits that held, and what was said of those that were lowered', async () => {
  const folder = join(temporaryFolder(), 'audit');
  const pungi = world.start({ AUDIT: 'true', AUDIT_DIR: folder });
  const { notes } = await pungi.run({ code: '1', limits: { timeoutMs: 900_000 } });
  const entries = (await entriesIn(folder)).filter(({ kind }) => kind === 'run');
  expect(notes).toHaveLength(1);
  expect(entries).toMatchObject([{ data: { limits: { timeoutMs: 300_000 }, notes } }]);
});
