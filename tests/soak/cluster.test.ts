import { expect, test } from 'vitest';
import { Chaos } from '../../packages/cluster/tests/chaos/chaos.js';
import { check } from '../../packages/cluster/tests/chaos/checker.js';

/** `CHAOS_RUNS=1000 CHAOS_SEEDS=2 npm run soak -- cluster` is a short form. */
const RUNS = Number(process.env['CHAOS_RUNS'] ?? 10_000);
const SEEDS = Number(process.env['CHAOS_SEEDS'] ?? 20);

test.each(Array.from({ length: SEEDS }, (_, n) => n + 1))(
  `${RUNS} runs among faults are each answered once and truly, and leave nothing (seed %i)`,
  async (seed) => {
    const result = await Chaos.run({ seed, runs: RUNS });
    console.log(JSON.stringify({ seed, verdicts: result.verdicts, faults: result.faults }));
    // As text, so that a report names what is wrong.
    expect(check(result).join('\n')).toBe('');
    // Also those with a wrong clock and of another version.
    expect(result.trails.every(({ entries }) => entries.length > 0)).toBe(true);
    expect(result.requested.length).toBeGreaterThanOrEqual(RUNS);
  },
  3_600_000,
);
