// `npm test [-- vitest's arguments]`: the tests that people wait for, or those that are named. With PUNGI_TEST_ALL=1 every test.
// With --ci, also a short soak; coverage is printed, a skipped security test
// on Linux is a failure, and a file that failed runs once more, alone, at the end: what passes then is listed as flaky.
// --failed-before=WHAT counts what failed before. The last lines name what failed, since a log may be cut at its beginning,
// and say how many passed and failed.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import './setup.mjs';
import { install, installed } from './dependencies.mjs';
import { withLock } from './lock.mjs';
import { at, scratch } from './repository.mjs';
import { runTool } from './run.mjs';
import { testPython } from './test-python.mjs';
import { readReport, withSecondRun } from './vitest-report.mjs';

if (process.exitCode) process.exit();
const BEFORE = '--failed-before=';
const LINES_OF_A_FAILURE = 40;
const own = new RegExp(`^--ci$|^${BEFORE}`);
const args = process.argv.slice(2).filter((argument) => !own.test(argument));
const ci = process.argv.includes('--ci');
// Named tests run, however long they take.
if (args.length > 0) process.env['PUNGI_TEST_ALL'] = '1';
const all = Boolean(process.env['PUNGI_TEST_ALL']);
/** The whole corpus, with packages, is left to `npm run test:all`: it takes a quarter of an hour. */
const SOAK = ['--config', 'vitest.soak.config.ts', '--exclude', 'tests/soak/corpus.test.ts'];

// The judges, which only run with all tests, bring packages of their own; installed here, no test has to wait for the network.
const judges = at('tests/judges/install');
if (all && existsSync(judges) && !installed(judges))
  await withLock(() => installed(judges) || install(judges));

const profiles = scratch(`profiles-${process.pid}`);
mkdirSync(profiles);
// A selection of tests by file or name is a selection of vitest's tests.
const python = () => (args.length === 0 ? [testPython({ coverage: ci, all })] : []);
const beside = all ? [] : python();
const reports = [
  await vitest([...(ci ? ['--coverage'] : []), ...args], { CHILD_COVERAGE: ci ? profiles : '' }),
];
// Imported only now: it needs packages that a fresh clone did not have when this file was loaded.
if (ci) await (await import('./coverage.mjs')).printCoverage(profiles);
rmSync(profiles, { recursive: true });
if (ci)
  reports.push(
    await vitest(SOAK, {
      SOAK_RUNS: '500',
      AUDIT_RUNS: '300',
      BACKGROUND_KILLS: '20',
      CHAOS_RUNS: '300',
      CHAOS_SEEDS: '2',
    }),
  );
reports.push(...(await Promise.all(all ? python() : beside)));

const judged = [];
for (const report of reports) judged.push(ci ? await secondRun(report) : report);
const before = process.argv.filter((argument) => argument.startsWith(BEFORE));
const failures = [
  ...before.map((argument) => `${argument.slice(BEFORE.length)} failed.`),
  ...judged.flatMap((report) => report.failures),
];
if (ci && process.platform === 'linux') {
  const [{ ranSecurity, skippedSecurity }] = judged;
  if (!ranSecurity) failures.push('no security test ran at all.');
  failures.push(...skippedSecurity.map((name) => `a security test was skipped: ${name}`));
}
const short = (failure) => failure.split('\n').slice(0, LINES_OF_A_FAILURE).join('\n');
for (const failure of failures) console.log(`\nFAILED ${short(failure)}`);
const flaky = judged.flatMap((report) => report.flaky ?? []);
for (const failure of flaky) console.log(`\nFLAKY, passed when run alone: ${short(failure)}`);
const passed = judged.reduce((sum, report) => sum + report.passed, 0);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Runs vitest and reads its report; `again` runs the files that failed once more. */
async function vitest(options, env) {
  const path = scratch(`vitest-${process.pid}.json`);
  // A log of CI is kept in part: a tree of every test would hide what failed, which the last lines name.
  const reporters = [`--reporter=${ci ? 'dot' : 'default'}`, '--reporter=json', `--outputFile.json=${path}`];
  const status = await runTool('vitest/vitest.mjs', ['run', ...reporters, ...options], { env });
  const report = readReport(path);
  rmSync(path, { force: true });
  if (status !== 0 && report.failures.length === 0)
    report.failures.push('vitest failed outside any test; see above.');
  const kept = options.filter((option) => option !== '--coverage');
  return { ...report, again: () => vitest([...kept, '--maxWorkers=1', ...report.failedFiles], env) };
}

async function secondRun(report) {
  if (report.failures.length === 0 || report.failedFiles.length === 0) return report;
  console.log(`\nOnce more, alone: ${report.failedFiles.join(', ')}`);
  return withSecondRun(report, await report.again());
}
