import { defineConfig } from 'vitest/config';

/** Boots other kernels in software emulation: minutes for each, so only on demand (`npm run test:kernels`). */
export default defineConfig({
  test: {
    include: ['tests/kernels/**/*.test.ts'],
    globalSetup: ['tests/support/own-place.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 40 * 60_000,
  },
});
