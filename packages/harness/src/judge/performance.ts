import type { Expected, Failure, TestCase } from '@pungi/core/contract';
import { failure } from './failure.js';

/** What was measured. A figure that is missing could not be taken. */
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
  const tell = (message: string, limit: number, actual?: number) =>
    found.push(
      failure(message, { kind: 'performance', expected: limit, ...(actual === undefined ? {} : { actual }) }),
    );
  const slowest = lower(performance?.max_duration_ms, expected.max_execution_time_ms);
  if (slowest !== undefined && durationMs > slowest)
    tell(
      `The call should take at most ${slowest} ms, and took ${rounded(durationMs)} ms.`,
      slowest,
      durationMs,
    );
  const most = lower(performance?.max_memory_mb, expected.memory_limit_mb);
  if (most !== undefined && memoryMb === undefined)
    tell(`The server may use at most ${most} MB of memory, but its memory could not be measured.`, most);
  if (most !== undefined && memoryMb !== undefined && memoryMb > most)
    tell(
      `The server may use at most ${most} MB of memory, and used ${rounded(memoryMb)} MB.`,
      most,
      memoryMb,
    );
  const least = performance?.min_ops_per_sec;
  if (least !== undefined && opsPerSecond === undefined)
    tell(`There should be at least ${least} calls a second, but their rate could not be measured.`, least);
  if (least !== undefined && opsPerSecond !== undefined && opsPerSecond < least) {
    const message = `There should be at least ${least} calls a second, and there were ${rounded(opsPerSecond)}.`;
    tell(message, least, opsPerSecond);
  }
  return found;
}

function lower(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
