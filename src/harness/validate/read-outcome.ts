import type { Outcome } from '../../contract/outcome.js';
import { errorOfVerdict, errorTold, unheard } from './error-of.js';
import { judgeOutput } from './judge-output.js';
import type { ScriptError } from './script-error.js';
import { type ScriptLog, type ScriptResult, Told } from './script-result.js';

/** What the Python side told, or why it told nothing. */
export function toldBy(outcome: Outcome): { told: Told } | { error: ScriptError } {
  const { verdict, value } = outcome;
  if (verdict.kind !== 'ok') return { error: errorOfVerdict(verdict) };
  const told = Told.safeParse(value?.json);
  return told.success ? { told: told.data } : { error: unheard(outcome) };
}

/** A run of a script as its result. `lines` are what it printed, as they came since the run was asked for. */
export function readOutcome(outcome: Outcome, lines: readonly ScriptLog[]): ScriptResult {
  const { usage } = outcome;
  // A worker may have had to be made as well, which nobody measures.
  const since = (timeMs: number) => Math.min(timeMs - usage.waitMs - usage.installMs, usage.wallMs);
  const printed = lines.map((line) => ({ ...line, timeMs: Math.max(0, Math.round(since(line.timeMs))) }));
  const spent = { durationMs: usage.wallMs, cpuMs: usage.cpuMs, memoryMb: usage.peakMemoryMb };
  const nothing = { output: null, failures: [], session: { set: {}, removed: [] } };
  const read = toldBy(outcome);
  if ('error' in read) return { success: false, ...nothing, logs: printed, ...spent, error: read.error };
  const { told } = read;
  const error = told.error ? errorTold(told.error, outcome.environment) : null;
  const isSilent = (told.result ?? null) === null;
  const json = isSilent && !outcome.stdout.truncated ? jsonIn(outcome.stdout.text) : undefined;
  const output = json ?? told.result ?? null;
  const failures = [...told.failures, ...judgeOutput(output)];
  const logs = told.logs.map(([level, message, timeMs]) => ({ level, message, timeMs }));
  const shown = json === undefined ? printed : printed.filter(({ level }) => level !== 'stdout');
  return {
    success: error === null && failures.length === 0,
    output,
    failures,
    logs: [...logs, ...shown].sort((one, other) => one.timeMs - other.timeMs),
    session: told.session,
    ...spent,
    error,
  };
}

/** Scripts that know nothing of us print their result: all of the output, or its last line. */
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
