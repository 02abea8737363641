import type { ScriptRun, TestResult } from '@pungi/core/contract';
import { type Answer, capture, isTooDeep, type JsonMap, wholeOf } from '../judge/answer.js';
import { bounded } from '../judge/shown.js';
import { finishTest, type PlannedTest } from '../spec/plan.js';
import type { ScriptContext, Validation } from '../validate/runner.js';
import { type CallRequest, completionFor, requestFor } from './call.js';
import type { Connection } from './connection.js';
import { judgeCalls } from './judge-calls.js';
import { runsAlone } from './schedule.js';
import { ServerFault } from './server-fault.js';
import { runSteps } from './steps.js';
import { type Lease, type Suite, scopeFor } from './suite.js';

/** The part of a result that an attempt adds. */
export type Attempt = Pick<TestResult, 'failures' | 'advisories' | 'logs'> &
  Partial<
    Pick<
      TestResult,
      'request' | 'response' | 'serverStderr' | 'memoryMb' | 'opsPerSecond' | 'progress' | 'scripts'
    >
  >;

/** Runs a test once, with its steps and scripts. */
export async function attemptTest(
  suite: Suite,
  planned: PlannedTest,
  lease: Lease,
  attempt: number,
): Promise<Attempt> {
  const { connection } = lease;
  const stderr = connection.stderrMark();
  const found: Attempt = { failures: [], advisories: [], logs: [] };
  const inVain = connection.asked.inVain;
  const own = runsAlone(planned);
  if (own) connection.asked.prepare(planned.test);
  const steps = stepsOf(suite, planned, connection);
  const setup = await steps('setup', {});
  found.failures.push(...setup.failures);
  if (setup.failures.length === 0) {
    try {
      await callAndJudge(suite, planned, { connection, attempt, captured: setup.captured }, found);
    } catch (error) {
      if (!(error instanceof ServerFault)) throw error;
      if (error.kind === 'timeout') lease.doubt();
      found.failures.push(error.toFailure());
    }
  }
  // Requests of the server during concurrent tests may belong to any of them: they are reported with
  // failures.
  const asked = own
    ? connection.asked.problems()
    : found.failures.length > 0
      ? connection.asked.unanswered(inVain)
      : [];
  found.failures.push(...asked.map((message) => ({ kind: 'expectation' as const, message })));
  if (connection.isUsable) found.failures.push(...(await steps('cleanup', setup.captured)).failures);
  if (found.failures.length > 0) {
    await connection.drainStderr();
    const stderrText = connection.stderrSince(stderr);
    if (stderrText !== '') found.serverStderr = stderrText;
  }
  return found;
}

function stepsOf(suite: Suite, planned: PlannedTest, connection: Connection) {
  return (which: 'setup' | 'cleanup', before: JsonMap) =>
    runSteps(connection, planned.test[which], {
      what: which === 'setup' ? 'Setup' : 'Cleanup',
      timeoutMs: suite.timeoutMs,
      signal: suite.signal,
      scope: (captured) => scopeFor(suite, planned, { ...before, ...captured }),
      isPersistent: which === 'cleanup',
    });
}

async function callAndJudge(
  suite: Suite,
  written: PlannedTest,
  { connection, attempt, captured }: { connection: Connection; attempt: number; captured: JsonMap },
  found: Attempt,
): Promise<void> {
  const { value: planned, missing } = finishTest(written, scopeFor(suite, written, captured));
  if (missing.length > 0) {
    const names = missing.map(({ text }) => text).join(', ');
    found.failures.push({
      kind: 'setup',
      message: `The test uses ${names}, but there is no captured value.`,
    });
    return;
  }
  const { test, id } = planned;
  const { kind, target } = planned;
  const request =
    test.complete === undefined
      ? requestFor(kind, target, test.input)
      : completionFor(kind, target, test.input, test.complete);
  found.request = reported(request);
  const occasion = { planned, connection, request, attempt };
  add(found, await runScripts(suite, 'before', occasion));
  if (found.failures.length > 0) return;
  const { answer, durationMs, calls, failures, ...figures } = await judgeCalls(
    suite,
    connection,
    planned,
    request,
  );
  found.response = reported(wholeOf(answer));
  found.failures.push(...failures);
  for (const key of ['progress', 'memoryMb', 'opsPerSecond'] as const)
    if (figures[key] !== undefined) found[key] = figures[key];
  // Too deep for scripts: only its depth is judged.
  if (isTooDeep(wholeOf(answer))) return;
  add(
    found,
    await runScripts(suite, 'after', { ...occasion, called: { answer, durationMs, index: calls - 1 } }),
  );
  if (found.failures.length > 0) return;
  found.failures.push(
    ...suite.snapshots.keep(test.expected, id, answer),
    ...captureFor(suite, planned, answer),
  );
}

/** Rows of a matrix capture the same names: the last one to end wins. */
function captureFor(suite: Suite, { test }: PlannedTest, answer: Answer): Attempt['failures'] {
  const { values, problems } = capture(test.capture, answer);
  Object.assign(suite.captured, values);
  return problems.map((message) => ({ kind: 'expectation' as const, message }));
}

function add(found: Attempt, { failures, advisories, logs, scripts }: Findings): void {
  if (scripts !== undefined) found.scripts = [...(found.scripts ?? []), ...scripts];
  found.failures.push(...failures);
  found.advisories.push(...advisories);
  found.logs.push(...logs);
}

const MOST_REPORTED = 256 * 1024;

/** Keeps a value whole, up to a limit. */
function reported(value: unknown): Exclude<TestResult['response'], undefined> {
  if (isTooDeep(value)) return bounded(value);
  const text = JSON.stringify(value) ?? 'null';
  return text.length > MOST_REPORTED ? bounded(value) : (JSON.parse(text) as ReturnType<typeof bounded>);
}

type Findings = Pick<TestResult, 'failures' | 'advisories' | 'logs'> & { scripts?: ScriptRun[] };
type Phase = 'before' | 'after';

interface Occasion {
  planned: PlannedTest;
  connection: Connection;
  request: CallRequest;
  attempt: number;
  /** Undefined before the call. */
  called?: { answer: Answer; durationMs: number; index: number };
}

/** Runs the validation scripts of a phase in order; after the call, also the expressions. */
async function runScripts(suite: Suite, phase: Phase, occasion: Occasion): Promise<Findings> {
  const { planned } = occasion;
  const runs: ScriptRun[] = [];
  const found: Findings = { failures: [], advisories: [], logs: [] };
  const { expression } = planned.test.expected;
  const expressions = phase === 'after' && expression !== undefined ? [expression].flat() : [];
  const scripts = planned.scripts.filter(({ execution_phase: when }) => when === phase || when === 'both');
  if (scripts.length > 0) found.scripts = runs;
  runs.push(...scripts.flatMap(({ name, skip }) => (skip === undefined ? [] : [skipped(name, phase, skip)])));
  const runnable = scripts.filter(({ skip }) => skip === undefined);
  if (runnable.length === 0 && expressions.length === 0) return found;
  const { validators } = suite;
  if (validators === undefined) {
    const message = 'The test contains Python, and there is no interpreter to run it.';
    return { ...found, failures: [{ kind: 'script', message }] };
  }
  const add = ({ failures, advisories, logs, run }: Validation) => {
    if (run !== undefined) runs.push({ ...run, phase });
    found.failures.push(...failures);
    found.advisories.push(...advisories);
    found.logs.push(...logs);
  };
  const options = { signal: suite.signal };
  if (expressions.length > 0)
    add(await validators.evaluate(expressions, contextOf(suite, phase, occasion), options));
  for (const script of runnable)
    add(await validators.run(script, contextOf(suite, phase, occasion), options));
  return found;
}

const skipped = (name: string, phase: Phase, reason: string): ScriptRun => ({
  name,
  phase,
  status: 'skipped',
  reason,
  durationMs: 0,
  cpuMs: 0,
  memoryMb: 0,
});

function contextOf(
  suite: Suite,
  phase: Phase,
  { planned, connection, request, attempt, called }: Occasion,
): ScriptContext {
  const { variables, captured } = scopeFor(suite, planned);
  return {
    request,
    response: called === undefined ? null : wholeOf(called.answer),
    metadata: {
      test_name: planned.name,
      test_id: planned.id,
      kind: planned.kind,
      tool_name: planned.target,
      server_info: connection.server,
      phase,
      index: called?.index ?? 0,
      attempt,
      duration_ms: called?.durationMs ?? 0,
      tags: planned.test.tags,
    },
    variables: Object.assign({}, ...variables.toReversed(), captured) as Record<string, unknown>,
    results: suite.earlier,
    custom: suite.specification.metadata ?? {},
  };
}
