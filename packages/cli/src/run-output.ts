import { countText, durationText, indent, oneLine, printable, type Style, styleFor } from '@pungi/core/base';
import type {
  Outcome,
  PackageInfo,
  PackageReport,
  PackageResult,
  RunOptions,
  ScopeViolation,
  Verdict,
} from '@pungi/core/contract';

import { nameKey } from '@pungi/core/environments';
import type { Streams } from './terminal.js';

/**
 * Writes the bytes of a run to this process's own streams as they arrive. `beforeWrite` frees the terminal's last line.
 */
export const relayOutput =
  (beforeWrite: () => void, terminal: Streams = process): NonNullable<RunOptions['onOutput']> =>
  (stream, data) => {
    beforeWrite();
    terminal[stream].write(data);
  };

export function printJson(value: unknown, { stdout }: Pick<Streams, 'stdout'> = process): void {
  stdout.write(`${JSON.stringify(value, null, stdout.isTTY ? 2 : 0)}\n`);
}

/**
 * Prints what follows the output: the value, if the run was asked for one, or the reason of a failure, then notes and the
 * disclosure.
 */
export function printEnding(
  { verdict, value, disclosure, notes = [] }: Outcome,
  file: string,
  { stdout, stderr }: Streams = process,
): void {
  if (value !== null) stdout.write(`${value.repr}\n`);
  for (const note of notes) stderr.write(`pungi: ${printable(note)}\n`);
  if (verdict.kind === 'no-environment')
    printFailures({ message: verdict.message, details: verdict }, stderr);
  // The message already names the first one and its place.
  const violations = verdict.kind === 'denied' ? (verdict.violations ?? []) : [];
  if (violations.length > 1) stderr.write(violationLines(violations, file));
  const failure = failureText(verdict);
  if (failure !== undefined) stderr.write(`${failure}\n`);
  if (disclosure !== null) stderr.write(`${printable(disclosure.text)}\n`);
}

/**
 * Returns Python's traceback, if any, and one sentence. A script that chose its exit status needs no comment.
 */
export function failureText(verdict: Verdict): string | undefined {
  if (verdict.kind === 'ok' || verdict.kind === 'exited') return undefined;
  const exception = 'exception' in verdict ? verdict.exception : undefined;
  const hint = exception?.hint ? `\npungi: ${exception.hint}` : '';
  const sentence = `pungi: ${verdict.message}${hint}`;
  return exception === undefined ? sentence : `${exception.traceback.trimEnd()}\n${sentence}`;
}

/** Formats one violation per line, as editors understand it: file:line:column rule reason. */
export const violationLines = (violations: readonly ScopeViolation[], file: string): string =>
  violations
    .map(({ line, column, rule, message }) => {
      const place = [file, line, column].filter((part) => part !== null).join(':');
      return `${place} ${rule} ${oneLine(message)}\n`;
    })
    .join('');

/** Formats a line per requested package, then its dependencies, then a summary. */
export function reportText(report: PackageReport, style: Style): string {
  const asked = new Set(report.packages.map((one) => keyOf(one.package)));
  const unasked = (list: readonly PackageInfo[]) => list.filter(({ name }) => !asked.has(keyOf(name)));
  const before = new Map(report.removed.map(({ name, version }) => [keyOf(name), version]));
  const added = new Set(report.added.map(({ name }) => keyOf(name)));
  const lines = [
    ...report.packages.map((one) => resultLine(one, before.get(keyOf(one.package)), style)),
    ...unasked(report.added).map(({ name, version }) => {
      const old = before.get(keyOf(name));
      return `  ${style('green', '+')} ${name} ${version}${old === undefined ? '' : ` (was ${old})`}`;
    }),
    ...unasked(report.removed)
      .filter(({ name }) => !added.has(keyOf(name)))
      .map(({ name, version }) => `  ${style('red', '-')} ${name} ${version}`),
  ];
  return `${lines.join('\n')}\n${summary(report)}\n`;
}

function resultLine(result: PackageResult, before: string | undefined, style: Style): string {
  const { package: asked, status, version } = result;
  const name = nameIn(asked);
  if (status === 'failed') return `${style('red', '✗')} ${name}`;
  const shown = `${style('green', '✓')} ${name} ${version ?? before ?? ''}`.trimEnd();
  const was = status === 'unchanged' ? ' (already installed)' : ` (was ${before})`;
  const isNew = status === 'removed' || (status === 'installed' && before === undefined);
  return isNew ? shown : `${shown}${style('dim', was)}`;
}

function summary({ venvName, packages, added, removed, tool, tookMs }: PackageReport): string {
  const how = `with ${tool} in ${durationText(tookMs)}`;
  if (packages.some(({ status }) => status === 'removed')) {
    return `Removed ${countText(removed.length, 'package')} from "${venvName}" ${how}.`;
  }
  if (added.length === 0 && removed.length === 0) return `Everything is already in "${venvName}".`;
  return `Installed ${countText(added.length, 'package')} into "${venvName}" ${how}.`;
}

/** Formats a failed change: each package, and the resolver's explanation, once if all packages share it. */
function failuresText(packages: readonly PackageResult[], style: Style): string {
  const reasons = new Set(packages.map(({ why }) => why));
  const [common] = reasons.size === 1 ? reasons : [null];
  const blocks = packages.map(({ package: asked, why }) => {
    const name = oneLine(asked);
    if (why === null)
      return `${style('dim', '·')} ${name}${style('dim', ' (could be installed on its own)')}`;
    return [`${style('red', '✗')} ${name}`, ...(common === null ? [indent(why, '    ')] : [])].join('\n');
  });
  return [...blocks, ...(common === null || common === undefined ? [] : [indent(common, '    ')]), ''].join(
    '\n',
  );
}

interface Failure {
  message: string;
  details: { packages?: readonly PackageResult[] | undefined; explanation?: string | undefined };
}

/** Prints the reasons on standard error, unless the error message contains them. */
export function printFailures(
  { message, details: { packages, explanation } }: Failure,
  stderr: Streams['stderr'] = process.stderr,
): void {
  if (packages?.some(({ why }) => why !== message)) {
    stderr.write(failuresText(packages, styleFor(stderr)));
  } else if (packages === undefined && explanation !== undefined && explanation !== message) {
    stderr.write(`${indent(explanation, '    ')}\n`);
  }
}

/** The project name at the start of a requirement. */
const nameIn = (requirement: string) => /^[A-Za-z0-9._-]*/.exec(requirement)?.[0] ?? '';
const keyOf = (requirement: string) => nameKey(nameIn(requirement));
