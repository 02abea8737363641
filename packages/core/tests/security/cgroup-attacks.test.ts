import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AttackTier } from './attack.js';
import { EXACT_LIMITS, UNSEEN_MEMORY } from './attacks/unseen-memory.js';
import { findCgroups } from './cgroups.js';
import { judge } from './judge.js';
import { runTable, type TableReport } from './run-table.js';
import { buildStage, IS_ROOT, type Stage } from './stage.js';

const ROWS = [...UNSEEN_MEMORY, ...EXACT_LIMITS];
const TIERS: AttackTier[] = ['namespace', 'landlock'];
const here = process.platform === 'linux' ? findCgroups() : { reason: 'not Linux' };

/** An ordinary user has no cgroup where nobody delegates one; then there is nothing to attack. */
describe.runIf(IS_ROOT && 'version' in here)('attacks on runs that have a cgroup', () => {
  let stage: Stage;
  const reports = new Map<AttackTier, TableReport>();

  beforeAll(async () => {
    stage = await buildStage();
    for (const tier of TIERS) reports.set(tier, await runTable(stage, tier, 'root', ROWS));
  }, 300_000);

  afterAll(() => stage?.remove());

  for (const tier of TIERS) {
    describe(`${tier} tier`, () => {
      test.for(ROWS.map((attack) => [attack.name, attack] as const))('%s', ([name, attack]) => {
        const { results, stderr } = reports.get(tier)!;
        const result = results.get(name);
        if (!result) throw new Error(`The runner ended before this row. ${stderr.slice(-2000)}`);
        expect(judge(attack, tier, stage.canary, result)).toEqual([]);
        expect(result.outcome?.isolation.features.join()).toMatch(/cgroup-v[12]-memory,cgroup-v[12]-pids/);
      });
    });
  }
});
