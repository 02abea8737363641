import { expect, test } from 'vitest';
import { killInBackground } from '../../packages/core/tests/background/kill-rounds.js';
import { temporaryFolder } from '../support/places.js';

/** `BACKGROUND_KILLS=20 npm run soak -- background-kill` is the short form. */
const POINTS = Number(process.env['BACKGROUND_KILLS'] ?? 200);

const folder = temporaryFolder();

test(`kill -9 at ${POINTS} random points, among background runs and sessions, loses none that was acknowledged`, async () => {
  const tally = await killInBackground(folder, POINTS, 2026);
  console.log(tally);
  expect(tally.handles).toBeGreaterThan(POINTS);
  expect(tally.available).toBeGreaterThan(0);
  expect(tally.lost).toBeGreaterThan(0);
  expect(tally.artifacts).toBeGreaterThan(0);
}, 3_600_000);
