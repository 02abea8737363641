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
import type { Answer, Surroundings } from '../act.js';
import { CANCELLED, USAGE } from '../exit-codes.js';
import { FAILED, type RunFlags } from './flags.js';
import { faultLine, loadSpecs, shownFile, warningLine } from './load-specs.js';
import { type Chosen, runPlanned } from './run-planned.js';

/** `pungi test run`: once, or again and again. */
export async function runSpecs(
  specs: readonly string[],
  flags: RunFlags,
  surroundings: Surroundings,
): Promise<Answer> {
  const reports = (flags.report ?? []).map(reportFile);
  const ci = detectCi(process.env);
  const round = (onFiles: Circumstances['onFiles']) =>
    runOnce(specs, flags, { ...surroundings, reports, ci, onFiles });
  if (!flags.watch) return round(() => {});
  if (flags.json || flags.list)
    throw new PungiError('INVALID_INPUT', '--watch goes on until Ctrl-C: it has no --json and no --list.');
  return watchFiles(round, surroundings);
}

interface Circumstances extends Surroundings {
  reports: ReportFile[];
  ci: Ci | null;
  /** Told before anything runs, so that no change is missed. */
  onFiles: (files: readonly string[]) => void;
}

async function runOnce(
  specs: readonly string[],
  flags: RunFlags,
  { steps, style, reports, ci, onFiles }: Circumstances,
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
  const told = warnings.map((warning) => revealedLine(warningLine(warning)));
  if (!flags.json) process.stderr.write(told.map((line) => `${line}\n`).join(''));
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
  // A server of which nothing is asked for is not started; without a choice, it is: it may have to show capabilities.
  const chosen = isNarrowed ? all.filter(({ loaded }) => loaded.tests.length > 0) : all;
  if (chosen.length > 0) return chosen;
  const told = [
    ...(filter === undefined ? [] : [`--filter ${filter}`]),
    ...(selection.tags.length === 0 ? [] : [`--tags ${selection.tags.join(',')}`]),
  ];
  throw new PungiError(
    'INVALID_INPUT',
    `No test matches ${told.join(' and ')}; --list without them shows what there is.`,
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

/** What --report names: "junit:report.xml", or a path whose ending tells the format. */
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

/** Looked at by their times: editors replace files rather than write them, which notices of the system miss. */
const LOOK_EVERY_MS = 250;

/** Does it again whenever one of the files changes that it says it has read, until the signal. */
async function watchFiles(
  round: (onFiles: (files: readonly string[]) => void) => Promise<Answer>,
  { steps: { signal }, style }: Surroundings,
): Promise<Answer> {
  let files: readonly string[] = [];
  let seen = '';
  let status = 0;
  while (!signal.aborted) {
    // From before they are read: a file that is being written is read again when it is whole.
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
      // A problem that no change of the file can fix is not waited for.
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

/** Resolves when the state is another one and stays so: files are written in more than one step. */
async function changed(look: () => string, seen: string, signal: AbortSignal): Promise<void> {
  let [state, before] = [look(), seen];
  while (!signal.aborted && (state === seen || state !== before)) {
    await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
    [state, before] = [look(), state];
  }
}

function stateOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? 'none' : `${found.ino} ${found.mtimeMs} ${found.size}`;
}

/** The files that a server is started with: a change of the server is a reason to test it again. */
function filesOfServer({ file, specification }: LoadedSpecification): string[] {
  const { server } = specification;
  if (server === undefined) return [];
  const folder = resolve(file, '..', server.working_dir ?? '.');
  return [server.command ?? '', ...server.args]
    .filter((word) => word !== '' && !word.startsWith('-'))
    .map((word) => resolve(folder, word))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
