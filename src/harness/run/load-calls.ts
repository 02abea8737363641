import { setTimeout as pause } from 'node:timers/promises';
import type { TestCase } from '../../contract/spec.js';

/** How often, how many at once, how long and how fast a test calls. */
export interface LoadPlan {
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

export interface LoadRun {
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
