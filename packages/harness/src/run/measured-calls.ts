import { setTimeout as pause } from 'node:timers/promises';
import type { Failure, TestCase } from '@pungi/core/contract';
import type { ServerProcess } from '@pungi/core/processes';
import type { PlannedTest } from '../spec/plan.js';
import { type Called, type CallRequest, call } from './call.js';
import type { Connection } from './connection.js';

/** The time limit for a server to answer after a cancelled call. */
const PING_TIMEOUT_MS = 5000;

export interface MeasuredCall extends Called {
  /** The number of progress notifications. */
  progress: number;
}

const isCancelled = ({ cancel_after_ms: after, cancel_after_progress: progress }: TestCase) =>
  after !== undefined || progress !== undefined;

/** Makes one call of a test, counts progress, and cancels it if the test asks for that. */
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
      failures.push(...(await stillAnswers(connection)));
    return { ...called, failures, progress };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

async function stillAnswers(connection: Connection): Promise<Failure[]> {
  if (await connection.answersWithin(PING_TIMEOUT_MS)) return [];
  const message = `After the cancelled call, the server did not answer within ${PING_TIMEOUT_MS / 1000} seconds.`;
  return [{ kind: 'cancellation', message }];
}

/** The number, concurrency, duration and rate of a test's calls. */
interface LoadPlan {
  /** Undefined: as many as fit into the duration. */
  calls: number | undefined;
  durationMs: number | undefined;
  atOnce: number;
  perSecond: number | undefined;
}

export function loadPlan(config: TestCase['test_config'] = {}): LoadPlan {
  const { concurrent_requests: atOnce = 1, repeat, stress_test_duration_seconds: seconds } = config;
  return {
    calls: repeat ?? (seconds === undefined ? atOnce : undefined),
    durationMs: seconds === undefined ? undefined : seconds * 1000,
    atOnce,
    perSecond: config.requests_per_second,
  };
}

interface LoadRun {
  calls: number;
  elapsedMs: number;
}

/** Makes the calls. An exception ends them all, after pending calls are finished. */
export async function runLoad(
  { calls = Number.POSITIVE_INFINITY, durationMs = Number.POSITIVE_INFINITY, atOnce, perSecond }: LoadPlan,
  one: (index: number) => Promise<void>,
): Promise<LoadRun> {
  const begun = performance.now();
  let index = 0;
  let ended = 0;
  let isOver = false;
  const worker = async (): Promise<void> => {
    while (!isOver && index < calls && performance.now() - begun < durationMs) {
      const mine = index;
      index += 1;
      if (perSecond !== undefined) {
        const early = begun + (mine * 1000) / perSecond - performance.now();
        if (early > 1) await pause(early);
      }
      await one(mine);
      ended += 1;
    }
  };
  const workers = Array.from({ length: Math.min(atOnce, calls) }, () =>
    worker().catch((error: unknown) => {
      isOver = true;
      throw error;
    }),
  );
  const settled = await Promise.allSettled(workers);
  for (const result of settled) if (result.status === 'rejected') throw result.reason;
  return { calls: ended, elapsedMs: performance.now() - begun };
}

const POLL_MS = 50;

/** Measures the peak memory of a server's processes. */
export class MemoryWatch {
  readonly #process: ServerProcess;
  readonly #timer: NodeJS.Timeout;
  #most: number | undefined;

  constructor(process: ServerProcess) {
    this.#process = process;
    this.#measure();
    this.#timer = setInterval(() => this.#measure(), POLL_MS);
  }

  end(): number | undefined {
    clearInterval(this.#timer);
    this.#measure();
    return this.#most;
  }

  #measure(): void {
    const now = this.#process.memoryMb();
    if (now !== undefined) this.#most = Math.max(now, this.#most ?? 0);
  }
}
