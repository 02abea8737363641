import { setTimeout as pause } from 'node:timers/promises';
import type { Failure, TestCase } from '@pungi/core/contract';
import type { ServerProcess } from '@pungi/core/processes';
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

/** How often, how many at once, how long and how fast a test calls. */
interface LoadPlan {
  /** Undefined: as often as there is time. */
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

/** Makes the calls. What one throws ends them all, once those on their way are over. */
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

const LOOK_EVERY_MS = 50;

/** The most memory that the processes of a server have at a time. */
export class MemoryWatch {
  readonly #process: ServerProcess;
  readonly #timer: NodeJS.Timeout;
  #most: number | undefined;

  constructor(process: ServerProcess) {
    this.#process = process;
    this.#look();
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  end(): number | undefined {
    clearInterval(this.#timer);
    this.#look();
    return this.#most;
  }

  #look(): void {
    const now = this.#process.memoryMb();
    if (now !== undefined) this.#most = Math.max(now, this.#most ?? 0);
  }
}
