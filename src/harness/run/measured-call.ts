import type { TestCase } from '../../contract/spec.js';
import type { Failure } from '../../contract/test-report.js';
import type { PlannedTest } from '../spec/plan.js';
import { type Called, type CallRequest, call } from './call.js';
import type { Connection } from './connection.js';

/** How long a server may take to show that it lives after a call was cancelled. */
const SIGN_OF_LIFE_MS = 5000;

export interface MeasuredCall extends Called {
  /** Progress notifications. */
  progress: number;
}

const isCancelled = ({ cancel_after_ms: after, cancel_after_progress: progress }: TestCase) =>
  after !== undefined || progress !== undefined;

/** One call of a test: counted, and cancelled where that is what is tested. */
export async function measuredCall(
  connection: Connection,
  request: CallRequest,
  { test }: PlannedTest,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<MeasuredCall> {
  let progress = 0;
  const cancelling = isCancelled(test) ? new AbortController() : undefined;
  const cancel = () => cancelling?.abort('cancelled by the test');
  const onProgress = () => {
    progress += 1;
    if (progress === test.cancel_after_progress) cancel();
  };
  const { cancel_after_ms: after } = test;
  const timer = after === undefined ? undefined : setTimeout(cancel, after);
  signal.addEventListener('abort', cancel, { once: true });
  const wantsProgress = test.expected.progress !== undefined || test.cancel_after_progress !== undefined;
  try {
    const called = await call(connection, request, {
      timeoutMs,
      signal: cancelling?.signal ?? signal,
      onProgress: wantsProgress ? onProgress : undefined,
      wantsLogs: test.expected.logs !== undefined,
    });
    const failures = [...called.failures];
    if (called.answer.kind === 'cancelled' && !signal.aborted)
      failures.push(...(await stillLives(connection)));
    return { ...called, failures, progress };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

async function stillLives(connection: Connection): Promise<Failure[]> {
  if (await connection.answersWithin(SIGN_OF_LIFE_MS)) return [];
  const message = `The call was cancelled, and the server answered nothing within ${SIGN_OF_LIFE_MS / 1000} seconds after that.`;
  return [{ kind: 'cancellation', message }];
}
