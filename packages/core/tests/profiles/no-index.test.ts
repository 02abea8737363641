import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openTrailForReading, type Pungi } from '../../../pungi/src/index.js';
import { temporaryFolder, verdictOf } from '../engine/pungi.js';
import { openWorld } from '../environments/world.js';

const world = await openWorld();
const file = join(temporaryFolder(), 'profiles.yaml');
writeFileSync(
  file,
  `
profiles:
  fruity:
    packages: [apple==1.0, cherry]
    allowedImports: [apple, cherry, cv2, math]
    blockedImports: [os]
    defaultImports: [apple]
    disclosure: true
`,
);
const audit = join(temporaryFolder(), 'audit');
const own = (settings: Record<string, string> = {}): Pungi =>
  world.start({ VENVS_BASE_PATH: temporaryFolder(), PROFILES_FILE: file, ...settings });

/** While it acts, tools find nobody where the index was. */
async function withoutIndex<T>(act: () => Promise<T>): Promise<T> {
  const before = { ...process.env };
  for (const [name, value] of Object.entries(process.env))
    if (value?.includes(world.index.url)) process.env[name] = 'http://127.0.0.1:9/simple';
  try {
    return await act();
  } finally {
    Object.assign(process.env, before);
  }
}

describe('code that may not run', () => {
  test.each([
    ['is out of scope', 'import os', 'denied'],
    ['is no Python', 'x = (', 'python-error'],
  ])('because it %s is refused before anything is installed for it', async (_why, code, kind) => {
    const pungi = own();
    const asked = world.index.requests.length;
    const outcome = await pungi.run({ code, profile: 'fruity', capability: 'executive_reporting' });
    expect(outcome.verdict.kind).toBe(kind);
    expect(outcome.isolation.tier).toBeNull();
    expect(world.index.requests).toHaveLength(asked);
    expect(await pungi.environments.list()).toHaveLength(1);
  });

  test('is refused in the same words as where the packages are there', async () => {
    const pungi = own();
    const early = await pungi.run({ code: 'x = 1\nimport os', profile: 'fruity' });
    await pungi.run({ code: '1', profile: 'fruity' });
    const late = await pungi.run({ code: 'x = 1\nimport os', profile: 'fruity' });
    expect(late.environment).toMatch(/^inline-/);
    expect(early.verdict).toEqual(late.verdict);
    expect(early.disclosure?.text).toContain('*Refused Python with the profile fruity*');
    expect(late.disclosure?.codeSummary).toEqual(early.disclosure?.codeSummary);
  });
});

describe('packages that no index gives', () => {
  test('are skipped with a note, and the rest of the profile works', async () => {
    await withoutIndex(async () => {
      const pungi = own();
      const outcome = await pungi.run({ code: 'import math\nprint(math.floor(2.5))', profile: 'fruity' });
      expect(outcome.verdict).toEqual({ kind: 'ok' });
      expect(outcome.stdout.text).toBe('2\n');
      expect(outcome.notes).toEqual([
        expect.stringMatching(
          /^Packages of the profile were skipped: apple==1\.0, cherry\. .*cannot be reached/,
        ),
      ]);
      const again = await pungi.run({ code: 'import cherry', profile: 'fruity' });
      const { exception } = verdictOf(again, 'python-error');
      expect(exception.hint).toBe(outcome.notes![0]);
      expect(again.usage.installMs).toBeLessThan(outcome.usage.installMs + 1);
    });
  });
});

test('what a profile lacks is for its packages to bring, not for pip', async () => {
  const pungi = own();
  const { exception } = verdictOf(await pungi.run({ code: 'import cv2', profile: 'fruity' }), 'python-error');
  expect(exception.hint).toContain('packages of the profile "fruity"');
  expect(exception.hint).not.toMatch(/\bpip\b|install_packages|pungi env install/);
});

test('the trail has the disclosure and what a run was for, and finds runs by it', async () => {
  const pungi = own({ AUDIT: 'true', AUDIT_DIR: audit });
  const ran = await pungi.run({ code: '1', profile: 'fruity', capability: 'roi_calculations' });
  const denied = await pungi.run({ code: 'import os', profile: 'fruity', capability: 'executive_reporting' });
  await pungi.run({ code: '2' });
  const trail = await openTrailForReading(audit);
  try {
    expect(trail.list({ capability: 'roi_calculations' })).toMatchObject([
      { kind: 'run', data: { runId: ran.runId, disclosure: ran.disclosure!.text } },
    ]);
    expect(trail.list({ capability: 'executive_reporting' })).toMatchObject([
      { kind: 'denial', data: { runId: denied.runId, details: { disclosure: denied.disclosure!.text } } },
    ]);
    expect(trail.list({ capability: 'gardening' })).toEqual([]);
  } finally {
    trail.close();
  }
});

test('packages that the cache has are used while the index is down', async () => {
  const settings = { VENVS_BASE_PATH: temporaryFolder() };
  await own(settings).environments.create({ venvName: 'before', packages: ['apple==1.0'] });
  await world.index.stop();
  const outcome = await own(settings).run({ code: 'print(apple.__version__)', profile: 'fruity' });
  expect(outcome.stdout.text).toBe('1.0\n');
  expect(outcome.notes).toEqual([expect.stringContaining('skipped: cherry.')]);
});
