import { countText, durationText } from '@pungi/core/base';
import type { SuiteReport, TestReport } from '@pungi/core/contract';
import type { Bounds } from './bounded-text.js';
import {
  countResults,
  type Evidence,
  exchangeOf,
  findingOf,
  firstOf,
  headline,
  isFlaky,
  type Located,
  resultsOf,
  scriptText,
  shownLine,
  verdictOf,
} from './evidence.js';

/** GitHub refuses comments over 65,536 characters. */
const MOST_CHARS = 60_000;
const MOST_ROWS = 50;
const MOST_OF_A_TEST = 5;
const BOUNDS: Bounds = { chars: 2000, lines: 40 };
const SIGNS = { passed: '✅', failed: '❌', empty: '⚪' };

/** Renders a comment for a pull request: the verdict, a table of failures, and collapsed details. */
export function markdownReport(report: TestReport): string {
  const located = resultsOf(report);
  const failed = located.filter(({ result }) => result.status === 'failed');
  const several = report.suites.length > 1;
  const head = [
    `### ${SIGNS[verdictOf(report)]} ${headline(report)}`,
    suiteTable(report.suites),
    ...report.suites.flatMap(problem),
    ...failureTable(failed, several),
  ];
  const foot = [
    ...advisories(located),
    ...skipped(located),
    ...flaky(located),
    ...validators(located),
    ...warnings(report.suites),
  ];
  const room = MOST_CHARS - [...head, ...foot].join('\n\n').length;
  return `${[...head, ...detailsWithin(failed, room), ...foot].join('\n\n')}\n`;
}

const suiteTable = (suites: readonly SuiteReport[]): string =>
  table(
    ['Suite', 'Server', 'Passed', 'Failed', 'Skipped', 'Time'],
    firstOf(suites, MOST_ROWS)[0].map(({ name, file, server, durationMs, results }) => {
      const { passed, failed, skipped } = countResults(results);
      const spoken = server
        ? `${prose(`${server.name} ${server.version}`)} (MCP ${prose(server.protocol)})`
        : '—';
      const counts = [passed, failed, skipped].map(String);
      return [`${prose(name)}<br>${code(file)}`, spoken, ...counts, durationText(durationMs)];
    }),
  );

const problem = ({ name, problem: sentence }: SuiteReport): string[] =>
  sentence === undefined ? [] : [`> **${prose(name)}:** ${prose(sentence, BOUNDS.chars)}`];

function failureTable(failed: readonly Located[], several: boolean): string[] {
  if (failed.length === 0) return [];
  const [shown, left] = firstOf(failed, MOST_ROWS);
  const rows = shown.map(({ suite, result: { id, failures, durationMs } }) => {
    const more = failures.length > 1 ? ` (and ${failures.length - 1} more)` : '';
    const where = several ? `<br>${code(suite.file)}` : '';
    return [code(id) + where, prose(failures[0]?.message ?? '') + more, durationText(durationMs)];
  });
  const rest = left === 0 ? [] : [`${countText(left, 'more test')} failed.`];
  return [table(['Failed test', 'Problem', 'Time'], rows), ...rest];
}

function detailsWithin(failed: readonly Located[], room: number): string[] {
  const blocks: string[] = [];
  let used = 200;
  for (const located of failed) {
    const block = details(located);
    used += block.length + 2;
    if (used > room) break;
    blocks.push(block);
  }
  const left = failed.length - blocks.length;
  if (left === 0) return blocks;
  const fit = left === 1 ? 'failed test does not fit here' : 'failed tests do not fit here';
  return [...blocks, `The details of ${left} ${fit}; the JSON and HTML reports have them.`];
}

function details({ result }: Located): string {
  const [failures, left] = firstOf(result.failures, MOST_OF_A_TEST);
  const findings = failures.flatMap((failure) => {
    const { message, source, evidence } = findingOf(failure, BOUNDS);
    const by = source === undefined ? '' : ` (found by ${code(source)})`;
    return [`**${prose(message, BOUNDS.chars)}**${by}`, ...evidence.map(block)];
  });
  return [
    `<details><summary>${code(result.id)}</summary>`,
    ...(result.description === undefined ? [] : [prose(result.description)]),
    ...findings,
    ...(left > 0 ? [`${left} more findings.`] : []),
    ...exchangeOf(result, BOUNDS).map(block),
    '</details>',
  ].join('\n\n');
}

const block = ({ label, form, text }: Evidence): string => `${label}:\n\n${fenced(text, form)}`;

function advisories(located: readonly Located[]): string[] {
  const lines = located.flatMap(({ result }) =>
    result.advisories.map(({ message }) => `${code(result.id)}: ${prose(message)}`),
  );
  return folded(countText(lines.length, 'advisory', 'advisories'), lines);
}

function skipped(located: readonly Located[]): string[] {
  const lines = located
    .filter(({ result }) => result.status === 'skipped')
    .map(({ result: { id, reason } }) => code(id) + (reason === undefined ? '' : `: ${prose(reason)}`));
  return folded(countText(lines.length, 'skipped test'), lines);
}

function flaky(located: readonly Located[]): string[] {
  const lines = located
    .filter(({ result }) => isFlaky(result))
    .map(({ result: { id, attempts } }) => `${code(id)}: passed on attempt ${attempts}`);
  return folded(`${countText(lines.length, 'test')} passed only after a retry`, lines);
}

function validators(located: readonly Located[]): string[] {
  const lines = located.flatMap(({ result }) =>
    (result.scripts ?? []).map((script) => `${code(result.id)}: ${code(scriptText(script))}`),
  );
  return folded(`${countText(lines.length, 'run')} of validation scripts`, lines);
}

function warnings(suites: readonly SuiteReport[]): string[] {
  const lines = suites.flatMap((suite) => (suite.warnings ?? []).map((warning) => prose(warning)));
  return folded(`${countText(lines.length, 'warning')} about specifications`, lines);
}

function folded(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const [shown, left] = firstOf(lines, MOST_OF_A_TEST * 2);
  const items = [...shown, ...(left > 0 ? [`and ${left} more`] : [])].map((line) => `- ${line}`);
  return [`<details><summary>${shownLine(title)}</summary>\n\n${items.join('\n')}\n\n</details>`];
}

/** All characters that Markdown, GitHub or GitLab could interpret. */
const SPECIAL = /[&<>|*_`~[\]\\#@!$:^{}=]|(?<=\bwww)\./g;

/** Mentions are detected after entities are decoded, so a zero-width space must break them. */
const PARTED = /[#@!]/;

/** Formats foreign text as plain text: no markup, no links, no notifications. */
const prose = (text: string, chars?: number): string =>
  shownLine(text, chars).replace(SPECIAL, (one) => entity(one) + (PARTED.test(one) ? '&#8203;' : ''));

/**
 * Formats foreign text as code, where platforms detect no mentions. Not in backticks, which do not protect a
 * bar in a table.
 */
const code = (text: string): string => `<code>${shownLine(text).replace(SPECIAL, entity)}</code>`;

const entity = (one: string): string => `&#${one.charCodeAt(0)};`;

/** Makes a code block whose fence is longer than any in the text. */
function fenced(text: string, language: 'diff' | 'json' | 'text'): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

const table = (headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  [headings, headings.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
