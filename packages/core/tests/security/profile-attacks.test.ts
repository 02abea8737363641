import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import type { AttackTier, User } from './attack.js';
import type { ProfileRowResult, ProfileTableRun } from './profile-attack-runner.js';
import { PROFILE_ATTACKS } from './profile-attacks.js';
import { buildStage, identityOf, REPOSITORY, runnerFolder, USERS } from './stage.js';

const TIERS: AttackTier[] = ['namespace', 'landlock'];

const stage = await buildStage('profile-attack-runner');
const venv = makeEnvironment();
const library = execFileSync(stage.python, ['-c', 'import _ctypes; print(_ctypes.__file__)'], {
  encoding: 'utf8',
}).trim();
afterAll(() => stage.remove());

function makeEnvironment(): string {
  const folder = join(stage.folder, 'venv');
  execFileSync(stage.python, ['-m', 'venv', '--without-pip', folder]);
  const [version] = readdirSync(join(folder, 'lib'));
  const packages = join(folder, 'lib', version!, 'site-packages');
  cpSync(join(REPOSITORY, 'packages/core/tests/scope/packages'), packages, { recursive: true });
  execFileSync('chmod', ['-R', 'a+rX', folder]);
  return folder;
}

/** Two folders with data, all of it the user's own and open to everybody: only the sandbox keeps a run from changing it. */
function layGround(folder: string, owner: number | undefined): string {
  const ground = join(folder, 'ground');
  mkdirSync(join(ground, 'sales/empty'), { recursive: true });
  mkdirSync(join(ground, 'other'));
  writeFileSync(join(ground, 'sales/rows.csv'), 'a,b\n1,2\n');
  writeFileSync(join(ground, 'other/rows.csv'), 'c,d\n3,4\n');
  writeFileSync(join(ground, 'secret.txt'), stage.canary);
  writeFileSync(join(ground, 'sales/tool'), '#!/bin/sh\ntrue\n');
  copyFileSync(library, join(ground, 'sales/library.so'));
  execFileSync('mkfifo', [join(ground, 'sales/pipe-of-host')]);
  symlinkSync(join(ground, 'secret.txt'), join(ground, 'sales/absolute'));
  symlinkSync('../secret.txt', join(ground, 'sales/relative'));
  symlinkSync('..', join(ground, 'sales/upwards'));
  execFileSync('chmod', ['-R', 'a+rwX', ground]);
  chmodSync(join(ground, 'sales/tool'), 0o755);
  if (owner !== undefined) {
    execFileSync('chown', ['-R', '-h', `${owner}:${owner}`, ground]);
    chownSync(ground, owner, owner);
  }
  return ground;
}

async function play(tier: AttackTier, user: User): Promise<Map<string, ProfileRowResult>> {
  const folder = runnerFolder(stage, tier, user);
  const identity = identityOf(user);
  const ground = layGround(folder, identity.uid);
  const table: ProfileTableRun = { tier, python: stage.python, ground, venv };
  const child = spawn(stage.node, [stage.runner], {
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
  return new Map(lines.map((line) => JSON.parse(line) as ProfileRowResult).map((row) => [row.name, row]));
}

test('every attack on profiles has a name of its own', () => {
  expect(new Set(PROFILE_ATTACKS.map(({ name }) => name)).size).toBe(PROFILE_ATTACKS.length);
});

describe.each(TIERS.flatMap((tier) => USERS.map((user) => ({ tier, user }))))(
  'attacks on profiles: $tier as $user',
  ({ tier, user }) => {
    const playing = play(tier, user);
    const attacks = PROFILE_ATTACKS.filter(({ tiers }) => tiers === undefined || tiers.includes(tier));

    test.each(attacks)('$name', { timeout: 120_000 }, async ({ name }) => {
      const row = (await playing).get(name);
      expect(row, 'the runner ended before this row').toBeDefined();
      expect(row!.problems).toEqual([]);
    });
  },
);
