import { expect, test } from 'vitest';
import { over, run, WORK } from './suites.js';

test.each([true, false])(
  'how long the server takes to start is told apart (fresh_server: %s)',
  async (fresh) => {
    const { report, named } = await run({
      server: over('answers-twice.mjs'),
      test_config: { fresh_server: fresh },
      ...WORK,
    });
    const { status, durationMs } = named('works');
    expect(status).toBe('passed');
    const start = report.serverStartMs!;
    expect(start).toBeGreaterThan(0);
    // It would not be, were the start counted twice.
    expect(start + durationMs).toBeLessThanOrEqual(report.durationMs);
  },
);
