import { countText, durationText, printable, revealed } from '@pungi/core/base';
import type { Failure, ScriptRun, TestResult } from '@pungi/core/contract';
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
