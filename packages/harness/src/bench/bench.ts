import { isErrorResult, type JsonMap } from '../judge/answer.js';
import { call, requestFor } from '../run/call.js';
import type { Connection } from '../run/connection.js';

interface BenchOptions {
  /** How long each tool is called. */
  durationMs: number;
  /** Concurrent calls. */
  concurrency: number;
  timeoutMs: number;
  signal: AbortSignal;
}

/** Times are in milliseconds. */
export interface Measured {
  tool: string;
  calls: number;
  errors: number;
  perSecond: number;
  min: number;
  median: number;
  p95: number;
  p99: number;
  max: number;
  /** Memory of the server and its child processes at the end; null if unknown. */
  memoryMb: number | null;
}

const WARM_UP = 5;

/** Calls a tool repeatedly. Throws a ServerFault if a call is not answered. */
export async function bench(
  connection: Connection,
  tool: string,
  input: JsonMap,
  { durationMs, concurrency, timeoutMs, signal }: BenchOptions,
): Promise<Measured> {
  const request = requestFor('tool', tool, input);
  const times: number[] = [];
  let errors = 0;
  const once = async () => {
    const { answer, durationMs: took } = await call(connection, request, { timeoutMs, signal });
    signal.throwIfAborted();
    if (answer.kind === 'error' || isErrorResult(answer)) errors += 1;
    times.push(took);
  };
  let begun = performance.now();
  // The warm-up of a slow tool must not exceed the measurement.
  for (let count = 0; count < WARM_UP && performance.now() - begun < durationMs; count += 1) await once();
  times.length = 0;
  errors = 0;
  begun = performance.now();
  const keepCalling = async () => {
    // At least one call, which may take longer than the duration.
    do await once();
    while (performance.now() - begun < durationMs);
  };
  await Promise.all(Array.from({ length: concurrency }, keepCalling));
  const elapsed = performance.now() - begun;
  const sorted = times.toSorted((one, other) => one - other);
  return {
    tool,
    calls: sorted.length,
    errors,
    perSecond: (sorted.length / elapsed) * 1000,
    min: sorted[0]!,
    median: percentile(sorted, 0.5),
    p95: percentile(sorted, 0.95),
    p99: percentile(sorted, 0.99),
    max: sorted.at(-1)!,
    memoryMb: connection.process?.memoryMb() ?? null,
  };
}

/** Nearest-rank percentile. */
const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
