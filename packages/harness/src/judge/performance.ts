import type { Expected, Failure, TestCase } from '@pungi/core/contract';
import { failure } from './failure.js';

/** Measurements. A missing figure could not be measured. */
export interface Figures {
  durationMs: number;
  memoryMb?: number;
  opsPerSecond?: number;
}

const rounded = (value: number) => Number(value.toPrecision(3));

export function judgePerformance(
  expected: Expected,
  performance: TestCase['performance'],
  { durationMs, memoryMb, opsPerSecond }: Figures,
): Failure[] {
  const found: Failure[] = [];
  const report = (message: string, limit: number, actual?: number) =>
    found.push(
      failure(message, { kind: 'performance', expected: limit, ...(actual === undefined ? {} : { actual }) }),
    );
  const slowest = lower(performance?.max_duration_ms, expected.max_execution_time_ms);
  if (slowest !== undefined && durationMs > slowest)
    report(
      `The call should take at most ${slowest} ms but took ${rounded(durationMs)} ms.`,
      slowest,
      durationMs,
    );
  const most = lower(performance?.max_memory_mb, expected.memory_limit_mb);
  if (most !== undefined && memoryMb === undefined)
    report(`The server may use at most ${most} MB of memory, but its memory could not be measured.`, most);
  if (most !== undefined && memoryMb !== undefined && memoryMb > most)
    report(
      `The server may use at most ${most} MB of memory but used ${rounded(memoryMb)} MB.`,
      most,
      memoryMb,
    );
  const least = performance?.min_ops_per_sec;
  if (least !== undefined && opsPerSecond === undefined)
    report(`There should be at least ${least} calls a second, but their rate could not be measured.`, least);
  if (least !== undefined && opsPerSecond !== undefined && opsPerSecond < least) {
    const message = `There should be at least ${least} calls a second but there were ${rounded(opsPerSecond)}.`;
    report(message, least, opsPerSecond);
  }
  return found;
}

function lower(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
