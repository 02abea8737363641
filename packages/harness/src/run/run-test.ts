import { setTimeout as pause } from 'node:timers/promises';
import { Retry, type TestResult } from '@pungi/core/contract';
import type { PlannedTest } from '../spec/plan.js';
import { type Attempt, attemptTest } from './attempt.js';
import { startProblem } from './connect.js';
import { ServerFault } from './server-fault.js';
import { blankResult, type Lease, type Suite } from './suite.js';

const MOST_DELAY_MS = 60_000;

const of = ({ id, kind, target, name, test }: PlannedTest) => ({
  id,
  kind,
  target,
  name,
  description: test.description,
  tags: test.tags,
});

export const skippedTest = (planned: PlannedTest, reason: string): TestResult => ({
  ...blankResult(of(planned), 'skipped'),
  reason,
});

/** Runs a test until it passes, up to its number of attempts. */
export async function runTest(suite: Suite, planned: PlannedTest): Promise<TestResult> {
  const { tries, delayBefore } = retriesOf(suite, planned);
  let attempts = 0;
  let last: Attempt | undefined;
  let durationMs = 0;
  while (attempts < tries && (last === undefined || last.failures.length > 0)) {
    if (attempts > 0) await pause(delayBefore(attempts), undefined, { signal: suite.signal }).catch(() => {});
    if (suite.signal.aborted) break;
    const outcome = await tryOnce(suite, planned, attempts + 1);
    if (typeof outcome === 'string') {
      if (last === undefined) return skippedTest(planned, outcome);
      break;
    }
    last = outcome.attempt;
    durationMs += outcome.durationMs;
    attempts += 1;
  }
  if (last === undefined || suite.signal.aborted) return skippedTest(planned, 'the run was aborted');
  const status = last.failures.length > 0 ? 'failed' : 'passed';
  suite.earlier[planned.id] = { status, response: last.response ?? null };
  return { ...blankResult(of(planned), status), ...last, durationMs, attempts };
}

interface Tried {
  attempt: Attempt;
  /** Measured from when there was a server. */
  durationMs: number;
}

/** Returns the attempt, or why it could not be made. */
async function tryOnce(suite: Suite, planned: PlannedTest, attempt: number): Promise<Tried | string> {
  let lease: Lease;
  try {
    lease = await suite.servers.take();
  } catch (error) {
    if (suite.signal.aborted) return 'the run was aborted';
    suite.problem ??= startProblem(error);
    return 'there was no server to test';
  }
  const begun = performance.now();
  try {
    const made = await attempted(suite, planned, lease, attempt);
    return { attempt: made, durationMs: performance.now() - begun };
  } finally {
    await lease.release();
  }
}

async function attempted(...given: Parameters<typeof attemptTest>): Promise<Attempt> {
  try {
    return await attemptTest(...given);
  } catch (error) {
    if (error instanceof ServerFault) throw error;
    const message = `The test could not be run: ${(error as Error).message}`;
    return { failures: [{ kind: 'setup', message }], advisories: [], logs: [] };
  }
}

function retriesOf({ specification }: Suite, { test }: PlannedTest) {
  const given = specification.test_config.retry;
  const { max_retries, retry_delay_ms, exponential_backoff } = given ?? Retry.parse({});
  const retries = test.test_config?.retry_attempts ?? (given === undefined ? 0 : max_retries);
  return {
    tries: retries + 1,
    delayBefore: (attempt: number) =>
      Math.min(MOST_DELAY_MS, retry_delay_ms * (exponential_backoff ? 2 ** (attempt - 1) : 1)),
  };
}
