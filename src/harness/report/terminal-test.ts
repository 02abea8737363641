import { durationText } from '../../base/terminal/amounts.js';
import type { Format, Style } from '../../base/terminal/style.js';
import type { TestResult, TestStatus } from '../../contract/test-report.js';
import type { Bounds } from './bounded-text.js';
import {
  attemptNote,
  circumstancesOf,
  type Evidence,
  findingOf,
  measuresOf,
  shownLine,
  validationOf,
} from './evidence.js';
import { firstOf } from './plain-text.js';

export const SIGNS: Record<TestStatus, { sign: string; format: Format }> = {
  passed: { sign: '✓', format: 'green' },
  failed: { sign: '✗', format: 'red' },
  skipped: { sign: '○', format: 'yellow' },
};

const SHORT: Bounds = { chars: 1500, lines: 20 };
const LONG: Bounds = { chars: 40_000, lines: 400 };
const MOST_FINDINGS = 8;

export const signOf = (status: TestStatus, style: Style): string =>
  style(SIGNS[status].format, SIGNS[status].sign);

/** A test in a line: its verdict, its name, and how it went. */
export function testLine(result: TestResult, style: Style, file?: string): string {
  const { id, status, durationMs, reason } = result;
  const attempts = attemptNote(result);
  const notes = [...(status === 'skipped' ? [] : [durationText(durationMs)]), ...measuresOf(result)];
  for (const note of [attempts, reason, file]) if (note !== undefined) notes.push(shownLine(note));
  const name = status === 'failed' ? style('bold', shownLine(id)) : shownLine(id);
  return `${signOf(status, style)} ${name}  ${style('dim', notes.join(', '))}`.trimEnd();
}

/** Everything somebody needs to see why it failed, and not more. Each line begins with a mark of our own, and an empty one ends it. */
export function failedTest(
  result: TestResult,
  { style, verbose, file }: { style: Style; verbose: boolean; file: string | undefined },
): string {
  const bounds = verbose ? LONG : SHORT;
  const [failures, left] = firstOf(result.failures, verbose ? Number.POSITIVE_INFINITY : MOST_FINDINGS);
  const lines = failures.flatMap((failure) => {
    const { message, source, evidence } = findingOf(failure, bounds);
    const by = source === undefined ? [] : [style('dim', `found by ${source}`)];
    return [...message.split('\n'), ...by, ...evidence.flatMap((one) => evidenceLines(one, style))];
  });
  if (left > 0) lines.push(style('dim', `${left} more were found`));
  lines.push(...circumstancesOf(result, bounds).flatMap((one) => evidenceLines(one, style)));
  const bar = style('red', '│');
  return `${testLine(result, style, file)}\n${lines.map((line) => `${bar} ${line}\n`).join('')}\n`;
}

/** What passed: with its validators and what they said. */
export function passedTest(result: TestResult, style: Style, file: string | undefined): string {
  const lines = validationOf(result, LONG).flatMap((one) => evidenceLines(one, style));
  const bar = style('dim', '│');
  return `${testLine(result, style, file)}\n${lines.map((line) => `${bar} ${line}\n`).join('')}`;
}

function evidenceLines({ label, form, text }: Evidence, style: Style): string[] {
  const lines = text.split('\n');
  if (form === 'diff') return lines.map((line) => `  ${diffLine(line, style)}`);
  const name = style('cyan', label);
  return lines.length === 1 ? [`${name} ${lines[0]}`] : [name, ...lines.map((line) => `  ${line}`)];
}

function diffLine(line: string, style: Style): string {
  if (line.startsWith('-')) return style('red', line);
  return line.startsWith('+') ? style('green', line) : style('dim', line);
}
