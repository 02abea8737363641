// Runs the tests of the Python half with unittest: those that are not long on the newest interpreter, or every one on all.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findInterpreters } from './interpreters.mjs';
import { at, root } from './repository.mjs';

const TESTS = 'packages/core/tests/python';
const RUNNER = ['scripts/unittest_report.py', TESTS];
const COVER = ['--cover', 'packages/core/python/pungi'];
/** Half of the time that all modules take: left out where people wait for the tests. */
const LONG = [
  'bursts',
  'census',
  'cgroups',
  'discovery_command_lines',
  'fork_server',
  'guard',
  'lease',
  'memory_file',
  'network',
  'standalone_calls',
  'standalone_limits',
];
/** Interpreters that run at the same time: most of a test is waiting for processes. */
const AT_ONCE = 4;

/**
 * Returns how many tests passed on all interpreters, and the failures. An interpreter without any result counts as a
 * failure. `again` repeats the modules that failed, on the interpreters where they failed.
 */
export async function testPython({ coverage = false, only, all = true } = {}) {
  const total = { passed: 0, failures: [], failedFiles: [] };
  const modules = new Map();
  if (!existsSync(at(TESTS))) {
    return { ...total, failures: [`There is no folder ${TESTS}: the Python half was not tested.`] };
  }
  const found = findInterpreters().filter(({ path }) => only === undefined || only.has(path));
  const interpreters = all ? found : found.slice(-1);
  if (interpreters.length === 0) {
    const failure = 'There is no Python 3.10 or newer on PATH: the Python half was not tested.';
    return { ...total, failures: [failure] };
  }
  const covering = coverage ? interpreters.at(-1) : undefined;
  let covered = '';
  const test = async (interpreter) => {
    const { path, version } = interpreter;
    const chosen = only?.get(path) ?? (all ? undefined : shortModules());
    const which = chosen === undefined ? [] : ['--only', ...chosen];
    const result = await runTests(path, [...(interpreter === covering ? COVER : []), ...which]);
    if (result.modules?.length > 0) modules.set(path, result.modules);
    const { passed, failures, skipped } = result;
    const also = skipped > 0 ? `, ${skipped} skipped` : '';
    console.log(`Python ${version}: ${passed} passed, ${failures.length} failed${also} (${path})`);
    total.passed += passed;
    total.failures.push(...failures.map((failure) => `Python ${version} > ${failure}`));
    total.failedFiles.push(...(result.modules ?? []).map((name) => `${name} on ${version}`));
    if (result.coverage) covered = coverageTable(version, result.coverage);
  };
  // The one that measures coverage takes longest.
  const waiting = interpreters.toReversed();
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await test(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (coverage) console.log(covered);
  return { ...total, again: () => testPython({ only: modules }) };
}

const shortModules = () =>
  readdirSync(at(TESTS))
    .map((name) => /^test_(\w+)\.py$/.exec(name)?.[1])
    .filter((name) => name !== undefined && !LONG.includes(name))
    .map((name) => `test_${name}`);

const run = (python, args) =>
  new Promise((resolve) =>
    execFile(python, args, spawning(), (error, stdout, stderr) => resolve({ error, stdout, stderr })),
  );

async function runTests(python, options) {
  const { stdout, stderr, error } = await run(python, [...RUNNER, ...options]);
  try {
    const result = JSON.parse(stdout.trim().split('\n').at(-1));
    return result.passed + result.failures.length > 0 ? result : { ...result, failures: ['no test ran'] };
  } catch {
    return { passed: 0, failures: [`no result: ${stdout}${stderr}${error?.message ?? ''}`], skipped: 0 };
  }
}

/** Does not include processes that the tests start. */
function coverageTable(version, coverage) {
  const share = (reached, lines) => `${Math.floor((100 * reached) / (lines || 1))} %`.padStart(5);
  const files = Object.entries(coverage).filter(([, [, lines]]) => lines > 0);
  const sum = (index) => files.reduce((all, [, counts]) => all + counts[index], 0);
  const table = files.sort().map(([name, [reached, lines]]) => {
    return `  ${name.padEnd(34)} ${share(reached, lines)} of ${lines} lines`;
  });
  const all = `  ${'all'.padEnd(34)} ${share(sum(0), sum(1))} of ${sum(1)} lines`;
  return [`\nCoverage of the Python half by its own tests (Python ${version})`, ...table, all].join('\n');
}

function spawning() {
  const path = [at('packages/core/python'), process.env.PYTHONPATH].filter(Boolean).join(delimiter);
  // The tests must import the source, and leave no bytecode in it.
  const env = { ...process.env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1' };
  return {
    cwd: root,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 1_500_000,
    maxBuffer: 2 ** 28,
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { failures } = await testPython({ coverage: process.argv.includes('--coverage') });
  for (const failure of failures) console.error(`\n${failure}`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}
