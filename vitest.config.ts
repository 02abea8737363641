import { defineConfig } from 'vitest/config';
import { LEFT_OUT, RUNS_ALL } from './tests/support/long-tests.js';
import { LongestFirst } from './tests/support/longest-first.js';

/** The soak takes its time and has a configuration of its own: `npm run soak`. */
export default defineConfig({
  test: {
    include: ['{tests,packages/*/tests}/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'tests/soak/**', 'tests/kernels/**', ...LEFT_OUT],
    globalSetup: ['scripts/fresh-dist.mjs', 'tests/support/own-place.ts'],
    // The tests start real processes, and their number follows from the machine, not from the tests' impatience.
    pool: 'forks',
    // Files that share a process import everything once. Whoever runs all tests wants to know that each file stands alone.
    isolate: RUNS_ALL,
    setupFiles: ['tests/support/own-process.ts'],
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      // scripts/coverage.mjs prints it, together with what spawned processes did.
      reporter: ['json'],
      reportOnFailure: true,
      reportsDirectory: 'coverage',
    },
  },
});
