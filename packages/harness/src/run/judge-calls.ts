import { setTimeout as pause } from 'node:timers/promises';
import type { Failure, TestSpecification } from '@pungi/core/contract';
import { type Answer, isMap, itemsOf } from '../judge/answer.js';
import { failure } from '../judge/failure.js';
import { judge, judgePerformance, judgeRange } from '../judge/judge.js';

import type { PlannedTest } from '../spec/plan.js';
import type { CallRequest } from './call.js';
import type { Connection } from './connection.js';
import { loadPlan, type MeasuredCall, MemoryWatch, measuredCall, runLoad } from './measured-calls.js';
import type { Suite } from './suite.js';

interface JudgedCalls {
  /** The answer of the first failed call; else of the last. */
  answer: Answer;
  durationMs: number;
  calls: number;
  failures: Failure[];
  progress: number | undefined;
  memoryMb: number | undefined;
  opsPerSecond: number | undefined;
}

const MOST_FAILED_CALLS = 3;
/** Over HTTP, log messages may arrive separately from the answer, and after it. */
const LATE_LOGS_MS = 500;

/** Makes a test's calls and judges each. Throws a ServerFault if one is not answered. */
export async function judgeCalls(
  suite: Suite,
  connection: Connection,
  planned: PlannedTest,
  request: CallRequest,
): Promise<JudgedCalls> {
  const { test, id, schemas } = planned;
  const { expected, performance: limits, test_config: config } = test;
  const timeoutMs = config?.timeout_override_ms ?? suite.timeoutMs;
  const plan = loadPlan(config);
  const isLoad = plan.calls !== 1;
  // Totals over all calls are judged at the end.
  const ofOne = {
    ...expected,
    logs: undefined,
    max_execution_time_ms: undefined,
    memory_limit_mb: undefined,
  };
  const snapshot = suite.snapshots.find(expected, id);
  const logsBefore = connection.traffic.logs;
  const failed: { index: number; call: MeasuredCall; failures: Failure[] }[] = [];
  let failedCount = 0;
  let last: MeasuredCall | undefined;
  let slowest = 0;

  const one = async (index: number): Promise<void> => {
    const made = await measuredCall(connection, request, planned, { timeoutMs, signal: suite.signal });
    last = made;
    slowest = Math.max(slowest, made.durationMs);
    const { answer, durationMs, progress } = made;
    const facts = { durationMs, progress, logs: 0, snapshot };
    const failures = [
      ...made.failures,
      ...judgeMimeType(suite.specification, planned, answer),
      ...judge({ expected: ofOne, schemas }, answer, facts),
    ];
    if (failures.length === 0) return;
    failedCount += 1;
    if (failed.length < MOST_FAILED_CALLS) failed.push({ index, call: made, failures });
  };

  const wantsMemory = limits?.max_memory_mb !== undefined || expected.memory_limit_mb !== undefined;
  const memory = wantsMemory && connection.process ? new MemoryWatch(connection.process) : undefined;
  let memoryMb: number | undefined;
  const load = await runLoad(plan, one).finally(() => {
    memoryMb = memory?.end();
  });
  const wantsRate = isLoad || limits?.min_ops_per_sec !== undefined;
  const opsPerSecond = wantsRate ? (load.calls * 1000) / load.elapsedMs : undefined;
  const logs = await logsSince(connection, logsBefore, expected.logs);
  const { answer, progress } = failed[0]?.call ?? last!;
  const failures = [
    ...failed.flatMap((call) =>
      isLoad ? call.failures.map((one) => numbered(one, call.index)) : call.failures,
    ),
    ...moreOf(failedCount - failed.length),
    ...judgeRange('log messages', expected.logs, logs),
    ...judgePerformance(expected, limits, {
      durationMs: slowest,
      ...(memoryMb === undefined ? {} : { memoryMb }),
      ...(opsPerSecond === undefined ? {} : { opsPerSecond }),
    }),
  ];
  const reportedProgress =
    expected.progress === undefined && test.cancel_after_progress === undefined ? undefined : progress;
  return {
    answer,
    durationMs: slowest,
    calls: load.calls,
    failures,
    progress: reportedProgress,
    memoryMb,
    opsPerSecond,
  };
}

const numbered = (failure: Failure, index: number): Failure => ({
  ...failure,
  message: `Call ${index + 1}: ${failure.message}`,
});

const moreOf = (count: number): Failure[] =>
  count > 0 ? [{ kind: 'expectation', message: `${count} more calls failed.` }] : [];

async function logsSince(
  connection: Connection,
  before: number,
  expected: PlannedTest['test']['expected']['logs'],
): Promise<number> {
  if (expected === undefined) return 0;
  const wanted = typeof expected === 'number' ? expected : (expected.min ?? 0);
  const deadline = performance.now() + LATE_LOGS_MS;
  do await pause(5);
  while (connection.traffic.logs - before < wanted && performance.now() < deadline);
  return connection.traffic.logs - before;
}

/** Checks the expected type of everything read through a template. */
function judgeMimeType(
  { resources }: TestSpecification,
  { kind, target }: PlannedTest,
  answer: Answer,
): Failure[] {
  const wanted = resources.find(({ uri_template: template }) => template === target)?.mime_type;
  if (kind !== 'resource' || wanted === undefined || answer.kind !== 'result' || !isMap(answer.result))
    return [];
  const others = itemsOf(answer.result['contents']).filter(({ mimeType }) => mimeType !== wanted);
  const [first] = others;
  if (first === undefined) return [];
  const is = first['mimeType'] === undefined ? 'is missing' : `is ${String(first['mimeType'])}`;
  return [
    failure(`The type of the content should be ${wanted} but ${is}.`, {
      expected: wanted,
      actual: first['mimeType'] ?? null,
    }),
  ];
}
