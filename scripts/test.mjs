// Every test: `npm test [-- vitest's arguments]`. With --ci, coverage is printed and a skipped security test on
// Linux is a failure; --failed-before=WHAT counts what failed before. The last lines name what failed, since a log may be
// cut at its beginning, and say how many passed and failed.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import './setup.mjs';
import { install, installed } from './dependencies.mjs';
import { at, scratch } from './house.mjs';
import { withLock } from './lock.mjs';
import { runTool } from './run.mjs';
import { testPython } from './test-python.mjs';
import { readReport } from './vitest-report.mjs';

if (process.exitCode) process.exit();
const BEFORE = '--failed-before=';
const LINES_OF_A_FAILURE = 40;
const own = new RegExp(`^--ci$|^${BEFORE}`);
const args = process.argv.slice(2).filter((argument) => !own.test(argument));
const ci = process.argv.includes('--ci');

// The judges bring packages of their own; installed here, no test has to wait for the network.
const judges = at('tests/judges/install');
if (existsSync(judges) && !installed(judges)) await withLock(() => installed(judges) || install(judges));

const report = scratch(`vitest-${process.pid}.json`);
const profiles = scratch(`profiles-${process.pid}`);
mkdirSync(profiles);
const vitestArgs = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
const status = await runTool('vitest/vitest.mjs', [...vitestArgs, ...(ci ? ['--coverage'] : []), ...args], {
  env: ci ? { CHILD_COVERAGE: profiles } : {},
});
// Imported only now: it needs packages that a fresh clone did not have when this file was loaded.
if (ci) await (await import('./coverage.mjs')).printCoverage(profiles);
rmSync(profiles, { recursive: true });
const before = process.argv.filter((argument) => argument.startsWith(BEFORE));
const vitest = readReport(report);
rmSync(report, { force: true });
const failures = [
  ...before.map((argument) => `${argument.slice(BEFORE.length)} failed.`),
  ...vitest.failures,
];
if (status !== 0 && vitest.failures.length === 0) failures.push('vitest failed outside any test; see above.');
let { passed } = vitest;

// A selection of tests by file or name is a selection of vitest's tests.
if (args.length === 0) {
  const python = await testPython({ coverage: ci });
  passed += python.passed;
  failures.push(...python.failures);
}
if (ci && process.platform === 'linux') {
  if (!vitest.ranSecurity) failures.push('no security test ran at all.');
  failures.push(...vitest.skippedSecurity.map((name) => `a security test was skipped: ${name}`));
}

for (const failure of failures)
  console.log(`\nFAILED ${failure.split('\n').slice(0, LINES_OF_A_FAILURE).join('\n')}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;
