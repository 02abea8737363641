import { expect, test } from 'vitest';
import { temporaryFolder } from '../engine/pungi.js';
import { killInBackground } from './kill-rounds.js';

const folder = temporaryFolder();

// tests/soak/background-kill.test.ts has two hundred points.
test('kill -9 at 5 random points loses no run that was acknowledged, and leaves no process', async () => {
  const { handles, available } = await killInBackground(folder, 5, 15);
  expect(handles).toBeGreaterThan(5);
  expect(available).toBeGreaterThan(0);
}, 120_000);
