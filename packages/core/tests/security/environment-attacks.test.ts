import { spawn } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { PACKAGES, startPackageIndex, type TestPackage } from '../../../../tests/support/package-index.js';
import { ensureUv } from '../../../../tests/support/uv.js';
import type { AttackTier, User } from './attack.js';
import type { EnvironmentRowResult, EnvironmentTableRun } from './environment-attack-runner.js';
import { ENVIRONMENT_ATTACKS } from './environment-attacks.js';
import { layBait } from './loading-bait.js';
import { loadingPackages } from './loading-packages.js';
import { buildStage, identityOf, runnerFolder, USERS } from './stage.js';

const TIERS: AttackTier[] = ['namespace', 'landlock'];

const ownUv = await ensureUv();
/** A place of the attacker's own, which packages of the index name by its address. */
const elsewhere = await startPackageIndex();
const lure = (name: string, file: string): TestPackage => ({
  name,
  version: '1.0',
  requires: [`${file.split('/')[0]} @ ${elsewhere.url.replace('/simple', `/files/${file}`)}`],
});
const stage = await buildStage('environment-attack-runner');
const bait = await layBait(stage.folder);
const index = await startPackageIndex([
  ...PACKAGES,
  ...loadingPackages(bait.targets),
  lure('lure', 'evilsource/evilsource-1.0.tar.gz'),
  lure('lure-wheel', 'hijack/hijack-1.0-py3-none-any.whl'),
]);
const withKey = join(stage.folder, 'with_secret_key.py');
copyFileSync(new URL('./fixtures/with_secret_key.py', import.meta.url), withKey);
const uv = join(stage.folder, 'uv');
copyFileSync(ownUv, uv);
chmodSync(uv, 0o755);
afterAll(async () => {
  await index.stop();
  await elsewhere.stop();
  bait.remove();
  stage.remove();
});

async function play(tier: AttackTier, user: User): Promise<Map<string, EnvironmentRowResult>> {
  const folder = runnerFolder(stage, tier, user);
  const base = join(folder, 'environments');
  mkdirSync(base, { mode: 0o755 });
  const identity = identityOf(user);
  if (identity.uid !== undefined) chownSync(base, identity.uid, identity.uid);
  const table: EnvironmentTableRun = { tier, python: stage.python, uv, base, index: index.env };
  // The session that the server is started in has a key, which no package may find.
  const child = spawn(stage.python, ['-I', withKey, stage.node, stage.runner], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: folder,
    env: {
      PATH: '/usr/bin:/bin',
      HOME: join(folder, 'home'),
      TMPDIR: join(folder, 'tmp'),
      PUNGI_DATA_DIR: join(folder, 'data'),
    },
    ...identity,
  });
  child.stdin.end(JSON.stringify(table));
  const lines = (await text(child.stdout)).split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => JSON.parse(line) as EnvironmentRowResult).map((row) => [row.name, row]));
}

describe.each(TIERS.flatMap((tier) => USERS.map((user) => ({ tier, user }))))(
  'attacks on environments: $tier as $user',
  ({ tier, user }) => {
    const playing = play(tier, user);

    test.each(ENVIRONMENT_ATTACKS)('$name', { timeout: 900_000 }, async ({ name, expect: expected }) => {
      const row = (await playing).get(name);
      expect(row, 'the runner ended before this row').toBeDefined();
      expect(row!.problems).toEqual([]);
      if (typeof expected === 'string') expect(row!.result).toBe(expected);
      else expect(row!.result).toMatch(expected);
    });
  },
);
