// Every test: `npm test [-- vitest's arguments]`. With --ci, coverage is printed and a skipped security test on
// Linux is a failure; --failed-before=1 counts what failed before. The last line says how many passed and failed.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import './setup.mjs';
import { install, installed } from './dependencies.mjs';
import { at, scratch } from './house.mjs';
import { withLock } from './lock.mjs';
import { runTool } from './run.mjs';
import { testPython } from './test-python.mjs';
import { readReport } from './vitest-report.mjs';

if (process.exitCode) process.exit();
const own = /^--ci$|^--failed-before=/;
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
const total = { passed: 0, failed: process.argv.includes('--failed-before=1') ? 1 : 0 };
const vitest = readReport(report);
rmSync(report, { force: true });
total.passed += vitest.passed;
total.failed += vitest.failed;
if (status !== 0 && vitest.failed === 0) fail('vitest ended with an error outside any test; see above.');

// A selection of tests by file or name is a selection of vitest's tests.
if (args.length === 0) {
  const python = await testPython({ coverage: ci });
  total.passed += python.passed;
  total.failed += python.failed;
}
if (ci && process.platform === 'linux') {
  if (!vitest.ranSecurity) fail('no security test ran at all.');
  for (const name of vitest.skippedSecurity) fail(`a security test was skipped: ${name}`);
}

console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

function fail(sentence) {
  console.error(sentence);
  total.failed += 1;
}
