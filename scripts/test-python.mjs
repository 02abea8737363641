// The Python half's own tests, with the standard library's unittest, on every interpreter from 3.10 on.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { at, root } from './house.mjs';
import { findInterpreters } from './interpreters.mjs';

const TESTS = 'tests/python';
const RUNNER = ['scripts/unittest_report.py', TESTS];
/** Interpreters at the same time: most of a test is waiting for processes. */
const AT_ONCE = 3;

/** The sums over all interpreters. One without any result counts as a failure. */
export async function testPython({ coverage = false } = {}) {
  const total = { passed: 0, failed: 0 };
  if (!existsSync(at(TESTS))) {
    console.error(`There is no folder ${TESTS}: the Python half was not tested.`);
    return { passed: 0, failed: 1 };
  }
  const interpreters = findInterpreters();
  if (interpreters.length === 0) {
    console.error('There is no Python 3.10 or newer on PATH: the Python half was not tested.');
    return { passed: 0, failed: 1 };
  }
  const test = async ({ path, version }) => {
    const { passed, failed, skipped, output } = await runTests(path);
    const also = skipped > 0 ? `, ${skipped} skipped` : '';
    console.log(`Python ${version}: ${passed} passed, ${failed} failed${also} (${path})`);
    if (failed > 0) console.error(output);
    total.passed += passed;
    total.failed += failed;
  };
  const waiting = interpreters.map((each) => () => test(each));
  let covered = '';
  if (coverage) {
    // First, because it takes longest.
    waiting.unshift(async () => {
      covered = await coverageOf(interpreters.at(-1));
    });
  }
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (coverage) console.log(covered);
  return total;
}

const run = (python, args) =>
  new Promise((resolve) =>
    execFile(python, args, spawning(), (error, stdout, stderr) => resolve({ error, stdout, stderr })),
  );

async function runTests(python) {
  const { stdout, stderr, error } = await run(python, RUNNER);
  const output = `${stdout}${stderr}${error?.message ?? ''}`;
  try {
    const counts = JSON.parse(stdout.trim().split('\n').at(-1));
    return counts.passed + counts.failed > 0
      ? { ...counts, output }
      : { ...counts, failed: 1, output: 'no test ran' };
  } catch {
    return { passed: 0, failed: 1, skipped: 0, output };
  }
}

/**
 * By the standard library's trace module, which is always there. Processes that the tests start are not seen, so tests of
 * nothing else are left out.
 */
async function coverageOf({ path, version }) {
  const scratch = mkdtempSync(join(tmpdir(), 'trace-'));
  const args = [
    '-m',
    'trace',
    '--count',
    // Without it only the lines that were reached are counted, and everything is at 100 %.
    '--missing',
    '--summary',
    '--coverdir',
    scratch,
    '--ignore-dir',
    '$prefix:$exec_prefix',
  ];
  const { stdout } = await run(path, [...args, ...RUNNER, '--without', 'test_standalone_']);
  rmSync(scratch, { recursive: true, force: true });
  const rows = [...(stdout ?? '').matchAll(/^ *(\d+) +(\d+)% +(\S+) +\((.+)\)$/gm)];
  const seen = new Map(rows.map(([, lines, percent, , file]) => [file, { lines, percent }]));
  const files = readdirSync(at('python/pungi'), { recursive: true }).filter((file) => file.endsWith('.py'));
  const table = files.sort().map((name) => {
    const { lines, percent } = seen.get(at('python/pungi', name)) ?? { lines: '?', percent: '0' };
    return `  ${name.padEnd(34)} ${percent.padStart(3)} % of ${lines} lines`;
  });
  return [`\nCoverage of the Python half by its own tests (Python ${version})`, ...table].join('\n');
}

function spawning() {
  const path = [at('python'), process.env.PYTHONPATH].filter(Boolean).join(delimiter);
  // The tests must see the source, and leave no bytecode in it.
  const env = { ...process.env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1' };
  return {
    cwd: root,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 600_000,
    maxBuffer: 2 ** 28,
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.exitCode =
    (await testPython({ coverage: process.argv.includes('--coverage') })).failed === 0 ? 0 : 1;
}
