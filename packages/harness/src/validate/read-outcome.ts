import type { Outcome, Output, OutputLine, RunOptions } from '@pungi/core/contract';
import { isMap, type JsonMap } from '../judge/answer.js';
import { cut, shown } from '../judge/shown.js';
import { errorOfVerdict, errorReported, reportMissing } from './error-of.js';
import { type PrintedVerdict, PrintedVerdicts } from './printed-verdicts.js';
import {
  type ScriptError,
  type ScriptFailure,
  type ScriptLog,
  ScriptReport,
  type ScriptResult,
} from './script-result.js';

/** Returns the report of the Python half, or the reason why there is none. */
export function readReport(outcome: Outcome): { report: ScriptReport } | { error: ScriptError } {
  const { verdict, value } = outcome;
  if (verdict.kind !== 'ok') return { error: errorOfVerdict(verdict) };
  const report = ScriptReport.safeParse(value?.json);
  return report.success ? { report: report.data } : { error: reportMissing(outcome) };
}

/** Converts a run into a script result. docs/testing-servers.md documents when it passes. */
export function readOutcome(outcome: Outcome, output: Printed): ScriptResult {
  const { usage, stdout } = outcome;
  const printed = output.logs(outcome);
  const verdicts = judgePrinted(output.verdicts());
  const spent = { durationMs: usage.wallMs, cpuMs: usage.cpuMs, memoryMb: usage.peakMemoryMb };
  const read = readReport(outcome);
  if ('error' in read) {
    const nothing = { output: null, session: { set: {}, removed: [] } };
    return { success: false, ...nothing, failures: verdicts, logs: printed, ...spent, error: read.error };
  }
  const { report } = read;
  const error = report.error ? errorReported(report.error, outcome.environment) : null;
  const noted = [...report.failures, ...verdicts];
  const failures = [...noted, ...judgeResult(report.result, noted.length > 0)];
  const logs = report.logs.map(([level, message, timeMs]) => ({ level, message, timeMs }));
  return {
    success: error === null && failures.length === 0,
    output: report.result ?? (stdout.truncated ? null : (jsonIn(stdout.text) ?? null)),
    failures,
    logs: [...logs, ...printed].sort((one, other) => one.timeMs - other.timeMs),
    session: report.session,
    ...spent,
    error,
  };
}

/**
 * Scripts without our API print a result: the whole output, or its last line. It does not affect the verdict.
 */
function jsonIn(stdout: string): unknown {
  const text = stdout.trim();
  if (text === '') return undefined;
  for (const part of new Set([text, text.slice(text.lastIndexOf('\n') + 1)])) {
    try {
      return JSON.parse(part);
    } catch {
      // not JSON
    }
  }
  return undefined;
}

const MESSAGE_KEYS = ['error', 'message', 'reason'];
const MAX_MESSAGE = 4000;
const MAX_FAILURES = 100;

/**
 * Interprets the returned value as a verdict: False, or a map whose `valid` is False. If failures were already reported, as by
 * `return expect(…)`, only additional ones are added.
 */
function judgeResult(result: unknown, hasNoted: boolean): ScriptFailure[] {
  if (result === false) return hasNoted ? [] : [{ message: 'The script returned False.' }];
  if (!isMap(result) || result['valid'] !== false) return [];
  const failures = failuresIn(result);
  return failures.length > 0 || hasNoted ? failures : [{ message: 'The script returned {"valid": false}.' }];
}

/** Interprets printed objects, each of which declares the answer invalid. */
const judgePrinted = (verdicts: readonly PrintedVerdict[]): ScriptFailure[] =>
  verdicts
    .flatMap(({ line, value }) => {
      const failures = isMap(value) ? failuresIn(value) : [];
      return failures.length > 0
        ? failures
        : [{ message: `The script printed {"valid": false} in line ${line} of its output.` }];
    })
    .slice(0, MAX_FAILURES);

/** The errors of a verdict, or its message. */
function failuresIn(judgement: JsonMap): ScriptFailure[] {
  const errors = [judgement['errors'], judgement['failures']].flat().filter(Boolean);
  if (errors.length > 0) return errors.slice(0, MAX_FAILURES).map(failureOf);
  const message = MESSAGE_KEYS.map((name) => judgement[name]).find(
    (value) => isMap(value) || (value && typeof value === 'string'),
  );
  return message === undefined ? [] : [failureOf(message)];
}

function failureOf(error: unknown): ScriptFailure {
  if (!isMap(error)) return { message: cut(typeof error === 'string' ? error : shown(error), MAX_MESSAGE) };
  const { message, field, path = field } = error as JsonMap;
  return {
    message: typeof message === 'string' ? cut(message, MAX_MESSAGE) : shown(error),
    ...(typeof path === 'string' ? { path } : {}),
    ...('expected' in error ? { expected: error['expected'] as ScriptFailure['expected'] } : {}),
    ...('actual' in error ? { actual: error['actual'] as ScriptFailure['actual'] } : {}),
  };
}

/** Lines with their own time; the rest is one text. */
const MOST_LINES = 1000;

/** Collects the output of a script: its verdicts, and the times of its lines. */
export class Printed {
  readonly #verdicts = new PrintedVerdicts();
  readonly #times: Record<OutputLine['stream'], number[]> = { stdout: [], stderr: [] };
  #began = 0;

  readonly listeners: Pick<RunOptions, 'onLine' | 'onOutput'> = {
    onLine: ({ stream }) => {
      const times = this.#times[stream];
      if (times.length < MOST_LINES) times.push(performance.now() - this.#began);
    },
    onOutput: (stream, data) => {
      if (stream === 'stdout') this.#verdicts.write(data);
    },
  };

  begin(): void {
    this.#began = performance.now();
  }

  verdicts(): PrintedVerdict[] {
    return this.#verdicts.finish();
  }

  /** Returns the output that the outcome keeps: head and tail of each stream, with a note about the gap. */
  logs({ stdout, stderr, usage }: Outcome): ScriptLog[] {
    // The time to start a worker, if one was needed, is not measured.
    const since = (timeMs: number) =>
      Math.max(0, Math.round(Math.min(timeMs - usage.waitMs - usage.installMs, usage.wallMs)));
    const linesOf = ({ text }: Output, stream: OutputLine['stream']): ScriptLog[] => {
      if (text === '') return [];
      const lines = text.replace(/\n$/, '').split('\n');
      const times = this.#times[stream];
      const timed = lines.slice(0, MOST_LINES).map((message, index) => ({
        level: stream,
        message,
        timeMs: since(times[index] ?? times.at(-1) ?? 0),
      }));
      const rest = lines.slice(MOST_LINES);
      if (rest.length === 0) return timed;
      return [...timed, { level: stream, message: rest.join('\n'), timeMs: Math.round(usage.wallMs) }];
    };
    return [...linesOf(stdout, 'stdout'), ...linesOf(stderr, 'stderr')];
  }
}
