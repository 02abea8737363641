import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { countText, PungiError, printable, revealedLine } from '@pungi/core/base';
import type { TestReport } from '@pungi/core/contract';
import {
  annotationsOf,
  appendJobSummary,
  type Ci,
  detectCi,
  formatOfFile,
  type LoadedSpecification,
  plan,
  type ReportFile,
  ReportFormat,
  TerminalReporter,
  verdictOf,
  writeReports,
} from '@pungi/harness';
import type { Answer, CommandContext } from '../act.js';
import { CANCELLED, USAGE } from '../exit-codes.js';
import { FAILED, type RunFlags } from './flags.js';
import { faultLine, loadSpecs, shownFile, warningLine } from './load-specs.js';
import { type Chosen, runPlanned } from './run-planned.js';

/** `pungi test run`: runs once, or repeatedly with --watch. */
export async function runSpecs(
  specs: readonly string[],
  flags: RunFlags,
  context: CommandContext,
): Promise<Answer> {
  const reports = (flags.report ?? []).map(reportFile);
  const ci = detectCi(process.env);
  const round = (onFiles: RunContext['onFiles']) =>
    runOnce(specs, flags, { ...context, reports, ci, onFiles });
  if (!flags.watch) return round(() => {});
  if (flags.json || flags.list)
    throw new PungiError('INVALID_INPUT', '--watch cannot be combined with --json or --list.');
  return watchFiles(round, context);
}

interface RunContext extends CommandContext {
  reports: ReportFile[];
  ci: Ci | null;
  /** Called before anything runs, so that no change is missed. */
  onFiles: (files: readonly string[]) => void;
}

async function runOnce(
  specs: readonly string[],
  flags: RunFlags,
  { steps, style, reports, ci, onFiles }: RunContext,
): Promise<Answer> {
  const { specifications, faults, warnings, files } = loadSpecs(specs, flags.var);
  onFiles([...new Set([...files, ...specifications.flatMap(filesOfServer)])]);
  const isRefused = faults.length > 0 || (flags.strict === true && warnings.length > 0);
  if (isRefused) {
    const count =
      faults.length > 0 ? countText(faults.length, 'fault') : countText(warnings.length, 'warning');
    const lines = [
      ...warnings.map((warning) => revealedLine(warningLine(warning))),
      ...faults.map((fault) => revealedLine(faultLine(fault))),
      `${style('red', '✗')} ${count}: nothing was run`,
    ];
    const named = (all: typeof faults) => all.map((one) => ({ ...one, file: shownFile(one.file) }));
    const json = { faults: named(faults), warnings: named(warnings) };
    return { json, text: lines.map((line) => `${line}\n`).join(''), status: USAGE };
  }
  const chosen = choose(specifications, flags);
  if (flags.list) return listing(chosen);
  const lines = warnings.map((warning) => revealedLine(warningLine(warning)));
  if (!flags.json) process.stderr.write(lines.map((line) => `${line}\n`).join(''));
  const live = flags.json
    ? undefined
    : new TerminalReporter({
        stream: process.stdout,
        verbose: flags.verbose === true,
        inCi: ci !== null,
      });
  const report = await runPlanned(chosen, flags, { signal: steps.signal, live, ci });
  if (live !== undefined) {
    live.ended(report);
    process.stdout.write(annotationsOf(report, { ci, env: process.env }));
  }
  await writeReports(report, reports);
  await appendJobSummary(report, process.env);
  return { json: report, text: '', status: statusOf(report, steps.signal) };
}

function choose(specifications: readonly LoadedSpecification[], { tags, filter }: RunFlags): Chosen[] {
  const selection = { tags: tags ?? [], filter };
  const isNarrowed = selection.tags.length > 0 || filter !== undefined;
  const all = specifications.map((loaded): Chosen => {
    const tests = plan(loaded.tests, selection);
    return { loaded: { ...loaded, tests }, isWhole: tests.length === loaded.tests.length };
  });
  // With a filter, servers without selected tests are not started; without one they are: they may have to
  // show capabilities.
  const chosen = isNarrowed ? all.filter(({ loaded }) => loaded.tests.length > 0) : all;
  if (chosen.length > 0) return chosen;
  const filters = [
    ...(filter === undefined ? [] : [`--filter ${filter}`]),
    ...(selection.tags.length === 0 ? [] : [`--tags ${selection.tags.join(',')}`]),
  ];
  throw new PungiError(
    'INVALID_INPUT',
    `No test matches ${filters.join(' and ')}; run --list without them to see all tests.`,
  );
}

function listing(chosen: readonly Chosen[]): Answer {
  const tests = chosen.flatMap(({ loaded }) =>
    loaded.tests.map(({ id, skip, test, origin }) => ({
      file: shownFile(loaded.file),
      id,
      tags: test.tags,
      ...(skip === undefined ? {} : { skip }),
      line: origin.position?.line ?? null,
    })),
  );
  const lines = tests.map(({ id, tags, skip }) => {
    const notes = [...tags.map((tag) => `#${tag}`), ...(skip === undefined ? [] : [`skipped: ${skip}`])];
    return `${[id, ...notes].map(revealedLine).join('  ')}\n`;
  });
  return { json: { tests }, text: lines.join('') };
}

function statusOf(report: TestReport, signal: AbortSignal): number {
  if (signal.aborted) return CANCELLED;
  return verdictOf(report) === 'failed' ? FAILED : 0;
}

/** Parses --report: "junit:report.xml", or a path whose extension names the format. */
function reportFile(text: string): ReportFile {
  const [, named, rest] = /^([a-z]+):(.*)$/is.exec(text) ?? [];
  const known = ReportFormat.safeParse(named?.toLowerCase());
  if (known.success && rest) return { format: known.data, path: rest };
  const format = formatOfFile(text);
  // A letter before a colon is a drive on some systems, not a format.
  if (format !== undefined && (named === undefined || named.length === 1)) return { format, path: text };
  throw new PungiError(
    'INVALID_INPUT',
    `--report ${text}: write FORMAT:PATH, with one of ${ReportFormat.options.join(', ')}.`,
  );
}

/** Polls modification times: editors replace files instead of writing them, which file system events miss. */
const POLL_MS = 250;

/** Repeats the work whenever one of the files it has read changes, until the signal. */
async function watchFiles(
  round: (onFiles: (files: readonly string[]) => void) => Promise<Answer>,
  { steps: { signal }, style }: CommandContext,
): Promise<Answer> {
  let files: readonly string[] = [];
  let seen = '';
  let status = 0;
  while (!signal.aborted) {
    // Taken before reading: a file that is still being written is read again when it is complete.
    const before = new Map(files.map((file) => [file, stateOf(file)]));
    try {
      const done = await round((read) => {
        files = read;
        seen = read.map((file) => before.get(file) ?? stateOf(file)).join('\n');
      });
      process.stdout.write(done.text);
      status = done.status ?? 0;
    } catch (thrown) {
      const error = PungiError.from(thrown);
      // A problem that no change of a file can fix ends the watch.
      if (files.length === 0 || error.code === 'INTERNAL_ERROR') throw error;
      process.stdout.write(`pungi: ${printable(error.message)}\n`);
    }
    if (signal.aborted) break;
    process.stdout.write(`${style('dim', `Watching ${countText(files.length, 'file')}; Ctrl-C ends.`)}\n`);
    await changed(() => files.map(stateOf).join('\n'), seen, signal);
    if (!signal.aborted) process.stdout.write('\n');
  }
  return { text: '', status };
}

/** Resolves when the state has changed and is stable: files are written in several steps. */
async function changed(read: () => string, seen: string, signal: AbortSignal): Promise<void> {
  let [state, before] = [read(), seen];
  while (!signal.aborted && (state === seen || state !== before)) {
    await pause(POLL_MS, undefined, { signal }).catch(() => {});
    [state, before] = [read(), state];
  }
}

function stateOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? 'none' : `${found.ino} ${found.mtimeMs} ${found.size}`;
}

/** The files in the server's command: a change of the server is a reason to test it again. */
function filesOfServer({ file, specification }: LoadedSpecification): string[] {
  const { server } = specification;
  if (server === undefined) return [];
  const folder = resolve(file, '..', server.working_dir ?? '.');
  return [server.command ?? '', ...server.args]
    .filter((part) => part !== '' && !part.startsWith('-'))
    .map((part) => resolve(folder, part))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
