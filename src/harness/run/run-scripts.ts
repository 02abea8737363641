import type { ScriptRun, TestResult } from '../../contract/test-report.js';
import { type Answer, wholeOf } from '../judge/answer.js';
import type { PlannedTest } from '../spec/plan.js';
import type { ScriptContext } from '../validate/script-context.js';
import type { Validation } from '../validate/validators.js';
import type { CallRequest } from './call.js';
import type { Connection } from './connection.js';
import { type Suite, scopeFor } from './suite.js';

export type Findings = Pick<TestResult, 'failures' | 'advisories' | 'logs'> & { scripts?: ScriptRun[] };
export type Phase = 'before' | 'after';

export interface Occasion {
  planned: PlannedTest;
  connection: Connection;
  request: CallRequest;
  attempt: number;
  /** Undefined before the call. */
  called?: { answer: Answer; durationMs: number; index: number };
}

/** The validation scripts of a phase, in their order; after the call, also the expressions. */
export async function runScripts(suite: Suite, phase: Phase, occasion: Occasion): Promise<Findings> {
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
    const message = 'The test has Python in it, and there is nothing here that could run it.';
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
