import { expect, test } from 'vitest';
import { Chaos } from './chaos.js';
import { check } from './checker.js';

/** `CHAOS_RUNS=10000 CHAOS_SEEDS=20 npm run soak -- cluster` is the long form. */
const SEED = Number(process.env['CHAOS_SEED'] ?? 17);
const RUNS = Number(process.env['CHAOS_RUNS'] ?? 300);

test(`${RUNS} runs among faults are each answered once and truly, and leave nothing (seed ${SEED})`, async () => {
  const result = await Chaos.run({ seed: SEED, runs: RUNS });
  console.log(JSON.stringify({ verdicts: result.verdicts, faults: result.faults }));
  // As text, so that a report names what is wrong.
  expect(check(result).join('\n')).toBe('');
  // Also those with a wrong clock and of another version.
  expect(result.trails.every(({ entries }) => entries.length > 0)).toBe(true);
  expect(result.requested.length).toBeGreaterThanOrEqual(RUNS);
  expect(result.verdicts['ok']).toBeGreaterThan(RUNS / 4);
}, 300_000);
