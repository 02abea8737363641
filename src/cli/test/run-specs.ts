import { PungiError } from '../../base/errors.js';
import { countText, revealedLine } from '../../base/terminal.js';
import type { TestReport } from '../../contract/test-report.js';
import {
  annotationsOf,
  appendJobSummary,
  type Ci,
  detectCi,
  formatOfFile,
  type ReportFile,
  ReportFormat,
  TerminalReporter,
  verdictOf,
  writeReports,
} from '../../harness/report/index.js';
import type { LoadedSpecification } from '../../harness/spec/load.js';
import { plan } from '../../harness/spec/plan.js';
import type { Answer, Surroundings } from '../act.js';
import { CANCELLED, USAGE } from '../exit-codes.js';
import type { RunFlags } from './flags.js';
import { faultLine, loadSpecs, shownFile, warningLine } from './load-specs.js';
import { type Chosen, runPlanned } from './run-planned.js';
import { FAILED } from './subcommand.js';
import { filesOfServer, watchFiles } from './watch-files.js';

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
