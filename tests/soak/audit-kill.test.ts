import { afterAll, expect, test } from 'vitest';
import { expectAllRecorded, killAtRandom } from '../../packages/core/tests/audit/kill-rounds.js';
import { TrailWorld } from '../../packages/core/tests/audit/trail-world.js';

/** `AUDIT_RUNS=300 npm run soak` is the short form. */
const RUNS = Number(process.env['AUDIT_RUNS'] ?? 10_000);

const world = new TrailWorld();
afterAll(() => world.end());

test(`kill -9 at random points during ${RUNS} runs loses none that was answered`, async () => {
  const answered = await killAtRandom(world, RUNS);
  expect(answered.length).toBeGreaterThanOrEqual(RUNS);
  await expectAllRecorded(world, answered);
});
