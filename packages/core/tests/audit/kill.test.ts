import { afterAll, expect, test } from 'vitest';
import { expectAllRecorded, killAtRandom } from './kill-rounds.js';
import { TrailWorld } from './trail-world.js';

const world = new TrailWorld();
afterAll(() => world.end());

/** `npm run soak` does this with ten thousand. */
test('kill -9 of a server at random points loses no run that was answered', async () => {
  const answered = await killAtRandom(world, 300);
  expect(answered.length).toBeGreaterThanOrEqual(300);
  await expectAllRecorded(world, answered);
}, 120_000);
