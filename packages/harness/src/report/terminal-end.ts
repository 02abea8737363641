import { durationText, type Format, type Style } from '@pungi/core/base';
import type { TestReport, TestResult, TestStatus } from '@pungi/core/contract';
import type { Bounds } from './bounded-text.js';
import {
  attemptNote,
  countParts,
  type Evidence,
  exchangeOf,
  findingOf,
  firstOf,
  isFlaky,
  measuresOf,
  resultsOf,
  shownLine,
  validationOf,
  verdictOf,
} from './evidence.js';

const MOST = 10;

/** Formats the end of a run: one line if all tests pass. */
export function endOfReport(report: TestReport, style: Style, verbose: boolean): string {
  const most = verbose ? Number.POSITIVE_INFINITY : MOST;
  const lines = [
    ...problems(report, style),
    ...failures(report, style, most),
    ...advisories(report, style, most),
    ...flaky(report, style, most),
    ...(verbose ? [] : skipped(report, style, most)),
    summary(report, style),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

const problems = ({ suites }: TestReport, style: Style): string[] =>
  suites.flatMap(({ file, problem }) =>
    problem === undefined
      ? []
      : [`${signOf('failed', style)} ${style('bold', shownLine(file))}: ${shownLine(problem, 2000)}`],
  );

/**
 * A single failure has just been printed in full; several are listed again, because only the last is still
 * visible.
 */
function failures(report: TestReport, style: Style, most: number): string[] {
  const failed = resultsOf(report).filter(({ result }) => result.status === 'failed');
  if (failed.length < 2) return [];
  const several = report.suites.length > 1;
  const lines = failed.map(({ suite, result }) => {
    const where = several ? style('dim', `  ${shownLine(suite.file)}`) : '';
    const why = style('dim', shownLine(result.failures[0]?.message ?? '', 120));
    return `${signOf('failed', style)} ${shownLine(result.id)}${where}  ${why}`;
  });
  return [...listed(lines, most, style), ''];
}

function advisories(report: TestReport, style: Style, most: number): string[] {
  const lines = resultsOf(report).flatMap(({ result: { id, advisories: found } }) =>
    found.map(({ message }) => `${style('yellow', '!')} ${shownLine(id)}: ${shownLine(message)}`),
  );
  return listed(lines, most, style);
}

function flaky(report: TestReport, style: Style, most: number): string[] {
  const lines = resultsOf(report)
    .filter(({ result }) => isFlaky(result))
    .map(({ result: { id, attempts } }) => {
      return `${style('yellow', '!')} ${shownLine(id)}: passed only on attempt ${attempts}`;
    });
  return listed(lines, most, style);
}

/** Groups skipped tests by reason: a failed dependency skips many. */
function skipped(report: TestReport, style: Style, most: number): string[] {
  const byReason = new Map<string, string[]>();
  for (const { result } of resultsOf(report)) {
    if (result.status !== 'skipped' || result.reason === undefined) continue;
    const reason = shownLine(result.reason);
    byReason.set(reason, [...(byReason.get(reason) ?? []), shownLine(result.id)]);
  }
  const lines = [...byReason].map(([reason, [first, ...others]]) => {
    const who = others.length === 0 ? first : `${first} and ${others.length} more`;
    return `${signOf('skipped', style)} ${who}: ${reason}`;
  });
  return listed(lines, most, style);
}

function listed(lines: readonly string[], most: number, style: Style): string[] {
  const [shown, left] = firstOf(lines, most);
  return [...shown, ...(left > 0 ? [style('dim', `  and ${left} more`)] : [])];
}

function summary(report: TestReport, style: Style): string {
  const verdict = verdictOf(report);
  const time = style('dim', `in ${durationText(report.durationMs)}${servers(report)}`);
  const parts = countParts(report.counts).map(({ status, text }) =>
    style(status === 'failed' ? 'red' : status === 'passed' ? 'green' : 'yellow', text),
  );
  const counted = parts.join(', ');
  if (verdict === 'empty') {
    const rest = counted === '' ? 'there was no test to run' : counted;
    return `${style('yellow', SIGNS.skipped.sign)} Nothing was tested: ${rest} ${time}`;
  }
  const sign = signOf(verdict, style);
  return counted === '' ? `${sign} Nothing could be tested ${time}` : `${sign} ${counted} ${time}`;
}

/** Names the server if there is only one; the suites name several. */
function servers({ suites }: TestReport): string {
  const known = new Set(
    suites.flatMap(({ server }) =>
      server === null
        ? []
        : [
            `${shownLine(server.name, 60)} ${shownLine(server.version, 30)}, MCP ${shownLine(server.protocol, 30)}`,
          ],
    ),
  );
  if (known.size !== 1) return '';
  const [{ serverStartMs } = {}, ...others] = suites;
  const start =
    serverStartMs === undefined || others.length > 0 ? '' : `, started in ${durationText(serverStartMs)}`;
  return ` · ${[...known][0]}${start}`;
}

const SIGNS: Record<TestStatus, { sign: string; format: Format }> = {
  passed: { sign: '✓', format: 'green' },
  failed: { sign: '✗', format: 'red' },
  skipped: { sign: '○', format: 'yellow' },
};

const SHORT: Bounds = { chars: 1500, lines: 20 };
const LONG: Bounds = { chars: 40_000, lines: 400 };
const MOST_FINDINGS = 8;

const signOf = (status: TestStatus, style: Style): string => style(SIGNS[status].format, SIGNS[status].sign);

/** A test on one line: verdict, name and notes. */
function testLine(result: TestResult, style: Style, file?: string): string {
  const { id, status, durationMs, reason } = result;
  const attempts = attemptNote(result);
  const notes = [...(status === 'skipped' ? [] : [durationText(durationMs)]), ...measuresOf(result)];
  for (const note of [attempts, reason, file]) if (note !== undefined) notes.push(shownLine(note));
  const name = status === 'failed' ? style('bold', shownLine(id)) : shownLine(id);
  return `${signOf(status, style)} ${name}  ${style('dim', notes.join(', '))}`.trimEnd();
}

/** Prints what explains a failure. Each line begins with a mark, and an empty line ends the block. */
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
  if (left > 0) lines.push(style('dim', `${left} more findings`));
  lines.push(...exchangeOf(result, bounds).flatMap((one) => evidenceLines(one, style)));
  const bar = style('red', '│');
  return `${testLine(result, style, file)}\n${lines.map((line) => `${bar} ${line}\n`).join('')}\n`;
}

/** A passed test, with its validators and their logs. */
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
