import { countText, durationText, printable, revealed } from '@pungi/core/base';
import type { Failure, ScriptRun, TestResult } from '@pungi/core/contract';
import { type Bounds, bounded, boundedLine, valueText } from './bounded-text.js';

/**
 * What a report shows of a test, the same in every format. Texts are bounded, and hold no control or direction
 * characters; each format escapes them in its own way.
 */
export interface Evidence {
  label: string;
  form: 'diff' | 'json' | 'text';
  text: string;
}

interface Finding {
  kind: Failure['kind'];
  message: string;
  /** Which script found it, and where. */
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

/** The difference; else both values, unless the sentence tells them already. */
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

/** What was sent and what came back, and what the server and the scripts said meanwhile. */
export function circumstancesOf(result: TestResult, bounds: Bounds): Evidence[] {
  const { request, response, serverStderr } = result;
  return [
    ...json('request', request, bounds),
    ...json('response', response, bounds),
    ...text("server's stderr", serverStderr, bounds),
    ...validationOf(result, bounds),
  ];
}

/** How each validation script went, and what they logged and printed. */
export const validationOf = (result: TestResult, bounds: Bounds): Evidence[] => [
  ...text('validators', (result.scripts ?? []).map(scriptText).join('\n'), bounds),
  ...text('log', logText(result), bounds),
];

/** Such as: prices add up (after): failed, SyntaxError; 12 ms, CPU 8 ms, 24 MB */
export function scriptText({ name, phase, status, reason, errorKind, ...spent }: ScriptRun): string {
  const who = `${shownLine(name)} (${phase}): ${status}`;
  if (status === 'skipped') return reason === undefined ? who : `${who}: ${shownLine(reason)}`;
  const how = errorKind === undefined ? who : `${who}, ${shownLine(errorKind)}`;
  const cpu = durationText(spent.cpuMs);
  return `${how}; ${durationText(spent.durationMs)}, CPU ${cpu}, ${Math.round(spent.memoryMb)} MB`;
}

const json = (label: string, value: unknown, bounds: Bounds): Evidence[] =>
  value === undefined ? [] : [{ label, form: 'json', text: valueText(value, bounds) }];

/** Colours and cursor movements of a server are left out: here, unlike in an answer, nothing depends on them. */
function text(label: string, words: string | undefined, bounds: Bounds): Evidence[] {
  const shown = printable(bounded(words ?? '', bounds)).trimEnd();
  return shown === '' ? [] : [{ label, form: 'text', text: shown }];
}

const logText = ({ logs }: TestResult): string =>
  logs
    .map(({ level, message, timeMs, script }) => {
      const from = script === undefined ? '' : ` (${script})`;
      return `${String(Math.round(timeMs)).padStart(5)} ms  ${level.padEnd(7)} ${message}${from}`;
    })
    .join('\n');

/** That it took more than one attempt, in a few words. */
export function attemptNote({ status, attempts }: TestResult): string | undefined {
  if (attempts < 2) return undefined;
  return status === 'passed' ? `passed on attempt ${attempts}` : `${attempts} attempts`;
}

/** What was measured beside the time, in a few words each. */
export function measuresOf({ memoryMb, opsPerSecond, progress }: TestResult): string[] {
  const measures: string[] = [];
  if (memoryMb !== undefined) measures.push(`${Math.round(memoryMb)} MB`);
  if (opsPerSecond !== undefined) measures.push(`${opsPerSecond.toFixed(opsPerSecond < 10 ? 1 : 0)} calls/s`);
  if (progress) measures.push(countText(progress, 'progress message'));
  return measures;
}

/** A schema that fits nothing finds thousands of faults, and the first ones tell it. */
export const MOST_FINDINGS = 20;

/** The first ones, and how many are left. */
export const firstOf = <T>(all: readonly T[], most: number): [shown: readonly T[], left: number] => [
  all.slice(0, most),
  Math.max(0, all.length - most),
];

/** Findings as lines of text, for readers that show nothing but text. */
export function plainFindings(failures: readonly Failure[], bounds: Bounds): string {
  const [shown, left] = firstOf(failures, MOST_FINDINGS);
  const blocks = shown.map((failure) => plainFinding(findingOf(failure, bounds)));
  return [...blocks, ...(left > 0 ? [`${left} more were found.`] : [])].join('\n\n');
}

export function plainFinding({ message, source, evidence }: Finding): string {
  return [message, ...(source ? [`  found by ${source}`] : []), ...evidence.map(plainEvidence)].join('\n');
}

/** Beside its name where it fits there, else below it. */
function plainEvidence({ label, form, text }: Evidence): string {
  const indented = text.replace(/^/gm, '  ');
  if (form === 'diff') return indented;
  return text.includes('\n') ? `  ${label}:\n${indented.replace(/^/gm, '  ')}` : `  ${label}: ${text}`;
}
