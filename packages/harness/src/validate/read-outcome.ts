import type { Outcome, Output, OutputLine, RunOptions } from '@pungi/core/contract';
import { isMap, type JsonMap } from '../judge/answer.js';
import { cut, shown } from '../judge/shown.js';
import { errorOfVerdict, errorReported, unheard } from './error-of.js';
import { type PrintedVerdict, PrintedVerdicts } from './printed-verdicts.js';
import {
  type ScriptError,
  type ScriptFailure,
  type ScriptLog,
  ScriptReport,
  type ScriptResult,
} from './script-result.js';

/** The report of the Python half, or the reason why there is none. */
export function readReport(outcome: Outcome): { report: ScriptReport } | { error: ScriptError } {
  const { verdict, value } = outcome;
  if (verdict.kind !== 'ok') return { error: errorOfVerdict(verdict) };
  const report = ScriptReport.safeParse(value?.json);
  return report.success ? { report: report.data } : { error: unheard(outcome) };
}

/** A run of a script as its result. docs/testing-servers.md has the rule by which it passes. */
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

const WORDS = ['error', 'message', 'reason'];
const MAX_MESSAGE = 4000;
const MAX_FAILURES = 100;

/**
 * What a script returned, as its judgement: False, or a map whose `valid` is False. Where failures were noted already,
 * as by `return expect(…)`, only what says more is added.
 */
function judgeResult(result: unknown, hasNoted: boolean): ScriptFailure[] {
  if (result === false) return hasNoted ? [] : [{ message: 'The script returned False.' }];
  if (!isMap(result) || result['valid'] !== false) return [];
  const said = failuresIn(result);
  return said.length > 0 || hasNoted ? said : [{ message: 'The script returned {"valid": false}.' }];
}

/** Objects that a script printed, each of which says that the answer is not valid. */
const judgePrinted = (verdicts: readonly PrintedVerdict[]): ScriptFailure[] =>
  verdicts
    .flatMap(({ line, value }) => {
      const said = isMap(value) ? failuresIn(value) : [];
      return said.length > 0
        ? said
        : [{ message: `The script printed {"valid": false} in line ${line} of its output.` }];
    })
    .slice(0, MAX_FAILURES);

/** What a judgement says about itself: its errors, or a sentence. */
function failuresIn(judgement: JsonMap): ScriptFailure[] {
  const errors = [judgement['errors'], judgement['failures']].flat().filter(Boolean);
  if (errors.length > 0) return errors.slice(0, MAX_FAILURES).map(failureOf);
  const said = WORDS.map((name) => judgement[name]).find(
    (word) => isMap(word) || (word && typeof word === 'string'),
  );
  return said === undefined ? [] : [failureOf(said)];
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

/** Lines with a time of their own; what comes after them is one text. */
const MOST_LINES = 1000;

/** What a script writes to its output: what it decides, and when its lines came. */
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

  /** All that the outcome keeps of the output: the head and the tail of each stream, with what is missing between them. */
  logs({ stdout, stderr, usage }: Outcome): ScriptLog[] {
    // A worker may have had to be made as well, which nobody measures.
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
