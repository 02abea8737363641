import type { TestResult } from '@pungi/core/contract';
import type { PlannedTest } from '../spec/plan.js';

interface ScheduleOptions {
  maxConcurrency: number;
  failFast: boolean;
  /** The reason why no more tests may start. */
  stopped: () => string | undefined;
  run: (test: PlannedTest) => Promise<TestResult>;
  skip: (test: PlannedTest, reason: string) => TestResult;
}

/** Tests of server requests or of speed must not be affected by other tests. */
export function runsAlone({ test }: PlannedTest): boolean {
  const { performance: asked, expected, test_config: config = {} } = test;
  return (
    test.elicitation.length > 0 ||
    test.sampling.length > 0 ||
    expected.logs !== undefined ||
    asked !== undefined ||
    expected.max_execution_time_ms !== undefined ||
    expected.memory_limit_mb !== undefined ||
    config.concurrent_requests !== undefined ||
    config.stress_test_duration_seconds !== undefined ||
    config.requests_per_second !== undefined
  );
}

/** Runs tests in order, several at once, each after its dependencies. */
export async function runAll(
  tests: readonly PlannedTest[],
  { maxConcurrency, failFast, stopped, run, skip }: ScheduleOptions,
): Promise<TestResult[]> {
  const results = new Map<string, TestResult>();
  const planned = new Set(tests.map(({ id }) => id));
  const waiting = [...tests];
  const running = new Set<Promise<void>>();
  let isExclusive = false;
  let failed: string | undefined;

  const next = (): PlannedTest | undefined => {
    if (isExclusive || running.size >= maxConcurrency) return undefined;
    for (const test of waiting) {
      if (!test.dependsOn.every((id) => results.has(id) || !planned.has(id))) continue;
      // It waits for its turn, and no test overtakes it.
      if (runsAlone(test) && running.size > 0) return undefined;
      return test;
    }
    return undefined;
  };
  const reasonToSkip = (test: PlannedTest): string | undefined => {
    if (test.skip !== undefined) return test.skip;
    const missed = test.dependsOn.find((id) => results.has(id) && results.get(id)!.status !== 'passed');
    if (missed !== undefined) return `it depends on "${missed}", which did not pass`;
    if (failFast && failed !== undefined) return `"${failed}" failed, and fail_fast is set`;
    return stopped();
  };
  const begin = (test: PlannedTest): void => {
    isExclusive = runsAlone(test);
    const one = run(test).then((result) => {
      results.set(test.id, result);
      if (result.status === 'failed') failed ??= test.id;
      running.delete(one);
      isExclusive = false;
    });
    running.add(one);
  };

  for (;;) {
    const test = next();
    if (test === undefined) {
      if (running.size === 0) break;
      await Promise.race(running);
      continue;
    }
    waiting.splice(waiting.indexOf(test), 1);
    const reason = reasonToSkip(test);
    if (reason === undefined) begin(test);
    else results.set(test.id, skip(test, reason));
  }
  return tests.map(({ id }) => results.get(id)!);
}
