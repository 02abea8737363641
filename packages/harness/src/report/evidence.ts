import { countText, durationText, printable, revealed } from '@pungi/core/base';
import type { Counts, Failure, ScriptRun, SuiteReport, TestReport, TestResult } from '@pungi/core/contract';
import { type Bounds, bounded, boundedLine, valueText } from './bounded-text.js';

/**
 * The parts of a test that a report shows, the same in every format. Texts are bounded and contain no control or direction
 * characters; each format escapes them itself.
 */
export interface Evidence {
  label: string;
  form: 'diff' | 'json' | 'text';
  text: string;
}

interface Finding {
  kind: Failure['kind'];
  message: string;
  /** The script that found it, and the line. */
  source: string | undefined;
  evidence: Evidence[];
}

const LINE_CHARS = 300;

export const shownLine = (text: string, chars = LINE_CHARS): string => revealed(boundedLine(text, chars));

export function findingOf(failure: Failure, bounds: Bounds): Finding {
  const { kind, script, line } = failure;
  return {
    kind,
    message: revealed(bounded(failure.message.trim(), bounds)),
    source: script && `${shownLine(script)}${line === undefined ? '' : `, line ${line}`}`,
    evidence: comparison(failure, bounds),
  };
}

/** The difference; else both values, unless the message contains them. */
function comparison({ message, diff, expected, actual }: Failure, bounds: Bounds): Evidence[] {
  if (diff !== undefined) {
    return [{ label: 'difference', form: 'diff', text: revealed(bounded(diff, bounds)).trimEnd() }];
  }
  const values = (
    [
      ['expected', expected],
      ['received', actual],
    ] as const
  )
    .filter(([, value]) => value !== undefined)
    .map(([label, value]) => ({ label, text: valueText(value, bounds) }));
  if (values.every(({ text }) => message.includes(text))) return [];
  return values.map(({ label, text }) => ({ label, form: 'json', text }));
}

/** The request, the answer, and the output of server and scripts. */
export function exchangeOf(result: TestResult, bounds: Bounds): Evidence[] {
  const { request, response, serverStderr } = result;
  return [
    ...json('request', request, bounds),
    ...json('response', response, bounds),
    ...text("server's stderr", serverStderr, bounds),
    ...validationOf(result, bounds),
  ];
}

/** The result of each validation script, and their logs. */
export const validationOf = (result: TestResult, bounds: Bounds): Evidence[] => [
  ...text('validators', (result.scripts ?? []).map(scriptText).join('\n'), bounds),
  ...text('log', logText(result), bounds),
];

/** Formats a script run: prices add up (after): failed, SyntaxError; 12 ms, CPU 8 ms, 24 MB */
export function scriptText({ name, phase, status, reason, errorKind, ...spent }: ScriptRun): string {
  const who = `${shownLine(name)} (${phase}): ${status}`;
  if (status === 'skipped') return reason === undefined ? who : `${who}: ${shownLine(reason)}`;
  const how = errorKind === undefined ? who : `${who}, ${shownLine(errorKind)}`;
  const cpu = durationText(spent.cpuMs);
  return `${how}; ${durationText(spent.durationMs)}, CPU ${cpu}, ${Math.round(spent.memoryMb)} MB`;
}

const json = (label: string, value: unknown, bounds: Bounds): Evidence[] =>
  value === undefined ? [] : [{ label, form: 'json', text: valueText(value, bounds) }];

/** Removes colours and cursor movements of a server: unlike in an answer, nothing depends on them. */
function text(label: string, content: string | undefined, bounds: Bounds): Evidence[] {
  const shown = printable(bounded(content ?? '', bounds)).trimEnd();
  return shown === '' ? [] : [{ label, form: 'text', text: shown }];
}

const logText = ({ logs }: TestResult): string =>
  logs
    .map(({ level, message, timeMs, script }) => {
      const from = script === undefined ? '' : ` (${script})`;
      return `${String(Math.round(timeMs)).padStart(5)} ms  ${level.padEnd(7)} ${message}${from}`;
    })
    .join('\n');

/** A note about retries. */
export function attemptNote({ status, attempts }: TestResult): string | undefined {
  if (attempts < 2) return undefined;
  return status === 'passed' ? `passed on attempt ${attempts}` : `${attempts} attempts`;
}

/** Other measurements, in a few words each. */
export function measuresOf({ memoryMb, opsPerSecond, progress }: TestResult): string[] {
  const measures: string[] = [];
  if (memoryMb !== undefined) measures.push(`${Math.round(memoryMb)} MB`);
  if (opsPerSecond !== undefined) measures.push(`${opsPerSecond.toFixed(opsPerSecond < 10 ? 1 : 0)} calls/s`);
  if (progress) measures.push(countText(progress, 'progress message'));
  return measures;
}

/** A wrong schema finds thousands of faults, and the first ones explain it. */
export const MOST_FINDINGS = 20;

/** The first items, and the number of the rest. */
export const firstOf = <T>(all: readonly T[], most: number): [shown: readonly T[], left: number] => [
  all.slice(0, most),
  Math.max(0, all.length - most),
];

/** Formats findings as plain text. */
export function plainFindings(failures: readonly Failure[], bounds: Bounds): string {
  const [shown, left] = firstOf(failures, MOST_FINDINGS);
  const blocks = shown.map((failure) => plainFinding(findingOf(failure, bounds)));
  return [...blocks, ...(left > 0 ? [`${left} more findings.`] : [])].join('\n\n');
}

export function plainFinding({ message, source, evidence }: Finding): string {
  return [message, ...(source ? [`  found by ${source}`] : []), ...evidence.map(plainEvidence)].join('\n');
}

/** Puts a short text next to its label, a long one below. */
function plainEvidence({ label, form, text }: Evidence): string {
  const indented = text.replace(/^/gm, '  ');
  if (form === 'diff') return indented;
  return text.includes('\n') ? `  ${label}:\n${indented.replace(/^/gm, '  ')}` : `  ${label}: ${text}`;
}

/** `empty`: nothing was tested. */
type Verdict = 'passed' | 'failed' | 'empty';

/** A suite that could not be tested has failed, even without failed tests. */
export function verdictOf(report: TestReport): Verdict {
  if (report.counts.failed > 0 || report.suites.some(({ problem }) => problem !== undefined)) return 'failed';
  return report.counts.passed === 0 ? 'empty' : 'passed';
}

export function countResults(results: readonly TestResult[]): Counts {
  const of = (status: TestResult['status']) => results.filter((result) => result.status === status).length;
  return { total: results.length, passed: of('passed'), failed: of('failed'), skipped: of('skipped') };
}

export interface Located {
  suite: SuiteReport;
  result: TestResult;
}

export const resultsOf = (report: TestReport): Located[] =>
  report.suites.flatMap((suite) => suite.results.map((result) => ({ suite, result })));

/** True if the test passed only after a retry. */
export const isFlaky = (result: TestResult): boolean => result.status === 'passed' && result.attempts > 1;

/** The part of the id that is unique within its target: the name, with its matrix row. */
export function titleOf({ id, kind, target, name }: TestResult): string {
  const group = `${kind}/${target}/`;
  return id.startsWith(group) && id.length > group.length ? id.slice(group.length) : name;
}

/** The verdict as a sentence. */
export function headline(report: TestReport): string {
  const { counts, durationMs, suites } = report;
  const broken = suites.filter(({ problem }) => problem !== undefined).length;
  const time = `in ${durationText(durationMs)}`;
  if (counts.failed > 0) return `${counts.failed} of ${countText(counts.total, 'test')} failed ${time}`;
  if (broken > 0) return `${countText(broken, 'suite')} could not be tested`;
  if (verdictOf(report) === 'empty') {
    return counts.skipped > 0 ? `Nothing was tested: ${counts.skipped} skipped` : 'Nothing was tested';
  }
  const rest = counts.skipped > 0 ? `, ${counts.skipped} skipped,` : '';
  return `${countText(counts.passed, 'test')} passed${rest} ${time}`;
}

export const countParts = ({ passed, failed, skipped }: Counts): { status: keyof Counts; text: string }[] => [
  ...(failed > 0 ? [{ status: 'failed' as const, text: `${failed} failed` }] : []),
  ...(passed > 0 ? [{ status: 'passed' as const, text: `${passed} passed` }] : []),
  ...(skipped > 0 ? [{ status: 'skipped' as const, text: `${skipped} skipped` }] : []),
];
