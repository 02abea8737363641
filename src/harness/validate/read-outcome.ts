import type { Outcome } from '../../contract/outcome.js';
import { errorOfVerdict, errorTold, unheard } from './error-of.js';
import { judgePrinted, judgeResult } from './judge-output.js';
import type { Printed } from './printed.js';
import type { ScriptError } from './script-error.js';
import { type ScriptResult, Told } from './script-result.js';

/** What the Python side told, or why it told nothing. */
export function toldBy(outcome: Outcome): { told: Told } | { error: ScriptError } {
  const { verdict, value } = outcome;
  if (verdict.kind !== 'ok') return { error: errorOfVerdict(verdict) };
  const told = Told.safeParse(value?.json);
  return told.success ? { told: told.data } : { error: unheard(outcome) };
}

/** A run of a script as its result. docs/testing-servers.md has the rule by which it passes. */
export function readOutcome(outcome: Outcome, output: Printed): ScriptResult {
  const { usage, stdout } = outcome;
  const printed = output.logs(outcome);
  const verdicts = judgePrinted(output.verdicts());
  const spent = { durationMs: usage.wallMs, cpuMs: usage.cpuMs, memoryMb: usage.peakMemoryMb };
  const read = toldBy(outcome);
  if ('error' in read) {
    const nothing = { output: null, session: { set: {}, removed: [] } };
    return { success: false, ...nothing, failures: verdicts, logs: printed, ...spent, error: read.error };
  }
  const { told } = read;
  const error = told.error ? errorTold(told.error, outcome.environment) : null;
  const noted = [...told.failures, ...verdicts];
  const failures = [...noted, ...judgeResult(told.result, noted.length > 0)];
  const logs = told.logs.map(([level, message, timeMs]) => ({ level, message, timeMs }));
  return {
    success: error === null && failures.length === 0,
    output: told.result ?? (stdout.truncated ? null : (jsonIn(stdout.text) ?? null)),
    failures,
    logs: [...logs, ...printed].sort((one, other) => one.timeMs - other.timeMs),
    session: told.session,
    ...spent,
    error,
  };
}

/** Scripts that know nothing of us print their result: all of the output, or its last line. It decides nothing. */
function jsonIn(stdout: string): unknown {
  const text = stdout.trim();
  if (text === '') return undefined;
  for (const part of new Set([text, text.slice(text.lastIndexOf('\n') + 1)])) {
    try {
      return JSON.parse(part);
    } catch {
      // no JSON
    }
  }
  return undefined;
}
