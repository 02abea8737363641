import { defineConfig } from 'vitest/config';

/** Ten thousand runs: one file at a time, alone on the machine, with no hurry. */
export default defineConfig({
  test: {
    include: ['tests/soak/**/*.test.ts'],
    globalSetup: ['scripts/fresh-dist.mjs', 'tests/support/own-place.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 30 * 60_000,
    hookTimeout: 60_000,
  },
});
