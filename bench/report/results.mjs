// Formats the results, the same for the terminal and RESULTS.md.
import { describeAudit } from '../audit.mjs';
import { describeCommandLine } from '../command-line.mjs';
import { describeEnvironments } from '../environments.mjs';
import { describeHarness } from '../harness.mjs';
import { describeLearned } from '../learned.mjs';
import { describePrints } from '../prints.mjs';
import { describeResponsiveness } from '../responsiveness.mjs';
import { describeSessions } from '../sessions.mjs';
import { describeStrategic } from '../strategic.mjs';
import { describeWrap } from '../wrap.mjs';
import { describeCpu } from './cpu.mjs';
import { figure, table } from './table.mjs';

const HEAD = ['', 'median', '×', 'p99', '×', 'back to back', '×', '8 at once', '×'];

export function describeResults(results, verdicts) {
  return [
    comparison(results),
    notes(results),
    '## Targets\n',
    targetTable(verdicts),
    `\n## CPU of a run, ${results.settings.concurrency} at once\n`,
    describeCpu(results),
    '\n## Learned preloading\n',
    describeLearned(results),
    '\n## The command line\n',
    describeCommandLine(results),
    '\n## Start and memory\n',
    table(['', 'figure'], startAndMemory(results)),
    '\n## Much output\n',
    describePrints(results),
    '\n## Sessions and pictures\n',
    describeSessions(results),
    '\n## Environments\n',
    describeEnvironments(results),
    '\n## Strategic analyses\n',
    describeStrategic(results),
    '\n## Gate and audit trail\n',
    describeAudit(results),
    '\n## Wrapped functions\n',
    describeWrap(results),
    '\n## Test harness\n',
    describeHarness(results),
    '\n## Responsiveness under hostile input\n',
    describeResponsiveness(results),
  ].join('\n');
}

function comparison({ workloads }) {
  const rows = Object.entries(workloads).flatMap(([workload, contenders]) => {
    const bare = contenders.find(({ id }) => id === 'bare');
    return contenders
      .filter(({ skipped }) => !skipped)
      .map((one) => [`${workload}: ${one.name}`, ...figures(one, bare)]);
  });
  return table(HEAD, rows);
}

function figures({ gap, backToBack, rate }, bare) {
  const against = (own, other) => figure(own === undefined ? undefined : own / other, '×');
  return [
    [figure(gap.median, ' ms'), against(gap.median, bare.gap.median)],
    [figure(gap.p99, ' ms'), against(gap.p99, bare.gap.median)],
    [figure(backToBack.median, ' ms'), against(backToBack.median, bare.backToBack.median)],
    [figure(rate, '/s'), against(rate, bare.rate)],
  ].flat();
}

function notes({ workloads, settings, memory }) {
  const left = Object.entries(workloads).flatMap(([workload, contenders]) =>
    contenders
      .filter(({ skipped }) => skipped)
      .map(({ name, skipped }) => `- ${workload}: ${name}: ${skipped}.`),
  );
  for (const [workload, use] of Object.entries(memory)) {
    if (!use) left.push(`- ${workload}: the kernel shows the memory of workers to root only.`);
  }
  return `
× is the ratio to the bare spawn in the same column (p99: to its median). Median and p99 are of calls with a gap of
${settings.gapMs} ms between them, as agents call, and the targets are judged by these; "back to back" has no gap.
"8 at once" is the steady rate with ${settings.concurrency} runs always under way. All contenders were measured in ${settings.rounds} interleaved
rounds, and every answer was checked. p99 is left out below 100 samples.
One Pyodide interpreter for all runs is fast and does not separate them: each sees what the last one left.
${left.join('\n')}${left.length > 0 ? '\n' : ''}`;
}

export const targetTable = (verdicts) =>
  table(
    ['target', 'limit', 'measured', ''],
    verdicts.map(({ about, limit, figure: measured, unit, verdict }) => [
      about,
      limit,
      figure(measured, unit),
      verdict,
    ]),
  );

function startAndMemory({ initialize: { pungiMs, emptyMs }, memory }) {
  const start = [
    ['`initialize` answered after starting `pungi serve`', figure(pungiMs, ' ms')],
    ['… after starting an empty server of the same SDK', figure(emptyMs, ' ms')],
  ];
  const held = Object.entries(memory).flatMap(([workload, use]) => [
    [`${workload}: private memory of a parked worker`, figure(use?.worker, ' MB')],
    [`${workload}: private memory of its supervisor`, figure(use?.supervisor, ' MB')],
    [`${workload}: both together`, figure(use && use.worker + use.supervisor, ' MB')],
    [`${workload}: what one more parked worker adds, shared pages counted once`, figure(use?.added, ' MB')],
  ]);
  return [...start, ...held];
}
