import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RUNS_ALL } from '../../../../tests/support/long-tests.js';
import type { CallerRun } from './caller-attack.js';
import { CALLER_ATTACKS } from './caller-attacks.js';
import { buildStage, REPOSITORY, runnerFolder, type Stage, startedIn, USERS } from './stage.js';

const TIERS = RUNS_ALL ? (['namespace', 'landlock'] as const) : (['namespace'] as const);
const WHO = TIERS.flatMap((tier) => USERS.map((user) => ({ tier, user })));
const TIMEOUT_MS = 300_000;

describe.skipIf(process.platform !== 'linux')('a hostile caller', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await buildStage('caller-attack-runner');
    // The database of background runs finds its native half above the bundle.
    const prebuilds = join(REPOSITORY, 'node_modules/@photostructure/sqlite/prebuilds');
    cpSync(prebuilds, join(stage.folder, 'app/dist/prebuilds'), { recursive: true });
  }, TIMEOUT_MS);
  afterAll(() => stage?.remove());

  describe.each(WHO)('$tier tier, started as $user', ({ tier, user }) => {
    const found = new Map<string, string[]>();
    let stderr = '';
    beforeAll(async () => {
      const folder = runnerFolder(stage, tier, user);
      const about: CallerRun = { tier, python: stage.python, folder, isShort: !RUNS_ALL };
      const ended = await promisify(execFile)(stage.node, [stage.runner, JSON.stringify(about)], {
        ...startedIn(folder, user),
      }).catch((error: { stdout: string; stderr: string }) => error);
      for (const line of ended.stdout.trim().split('\n')) {
        const { name, problems } = JSON.parse(line) as { name: string; problems: string[] };
        found.set(name, problems);
      }
      stderr = ended.stderr;
    }, TIMEOUT_MS);

    test.each(CALLER_ATTACKS.map(({ name }) => name))('%s', (name) => {
      expect(found.get(name), stderr).toEqual([]);
    });
  });
});
