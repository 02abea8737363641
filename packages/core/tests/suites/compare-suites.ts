// Runs test suites of others with plain Python and in the sandbox, and prints what passes outside and not inside.
//   npx tsx packages/core/tests/suites/compare-suites.ts [--tier landlock] [--python 3.11] [--packages] [SUITE…]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig, Pungi } from '../../../pungi/src/index.js';
import { DEFAULT_LIMITS } from '../../src/contract/limits.js';
import { interpreters } from '../corpus/interpreters.js';
import { barePlace, type Place, packagesPlace } from '../corpus/places.js';
import { runPlain } from '../corpus/plain-python.js';
import type { Snippet } from '../corpus/snippets.js';

const CPYTHON = [
  ...['test_json', 'test_re', 'test_pickle', 'test_sqlite3', 'test_tempfile', 'test_shutil', 'test_pathlib'],
  ...[
    'test_threading',
    'test_subprocess',
    'test_socket',
    'test_asyncio',
    'test_multiprocessing_main_handling',
  ],
  ...['test_multiprocessing_fork', 'test_multiprocessing_forkserver', 'test_multiprocessing_spawn'],
];
const PACKAGES = ['numpy.linalg', 'numpy.lib', 'pandas.tests.frame'];
/** What a suite may use: more than a run may by default. */
const ROOM = {
  EXECUTION_TIMEOUT_MS: '1500000',
  MAX_CPU_MS: '1500000',
  MAX_MEMORY_MB: '4096',
  MAX_PROCESSES: '512',
  MAX_OPEN_FILES: '4096',
  MAX_DISK_MB: '2048',
  MAX_OUTPUT_BYTES: '16777216',
};
const LIMITS = {
  ...DEFAULT_LIMITS,
  timeoutMs: 1_500_000,
  cpuMs: 1_500_000,
  memoryMb: 4096,
  processes: 512,
  openFiles: 4096,
  diskMb: 2048,
  outputBytes: 16_777_216,
};

interface Test {
  outcome: string;
  said: string;
}

const { values, positionals } = parseArgs({
  options: {
    tier: { type: 'string', default: 'namespace' },
    python: { type: 'string' },
    packages: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const found = interpreters();
const interpreter =
  found.find(({ version }) => values.python !== undefined && version.startsWith(values.python)) ??
  found.at(-1)!;
const suites = positionals.length > 0 ? positionals : values.packages ? PACKAGES : CPYTHON;
const source = readFileSync(
  join(import.meta.dirname, values.packages ? 'pytest_suite.py' : 'unittest_suite.py'),
  'utf8',
);
const place = values.packages
  ? await packagesPlace(interpreter, ['numpy', 'pandas', 'pytest', 'hypothesis'])
  : await barePlace(interpreter);
try {
  console.log(`Python ${interpreter.version}, ${values.tier} tier`);
  for (const suite of suites) await compareSuite(suite, place);
} finally {
  place.remove();
}

async function compareSuite(suite: string, place: Place): Promise<void> {
  const [plain] = await runPlain([snippetOf(suite)], place.environment, 1);
  const pungi = Pungi.start(
    loadConfig({
      env: { AUDIT: 'false', TOOLS_DIR: 'off', ...ROOM, ...place.settings, PUNGI_TIER: values.tier },
    }),
  );
  const outcome = await pungi.run({
    code: source,
    filename: 'main.py',
    argv: [suite],
    limits: LIMITS,
    ...place.request,
  });
  await pungi.close();
  const outside = testsOf(plain!.stdout);
  const inside = testsOf(outcome.stdout.text);
  const passed = [...outside].filter(([, { outcome }]) => outcome === 'passed');
  const lost = passed.filter(([name]) => inside.get(name)?.outcome !== 'passed');
  const [failed, skipped, missing] = [
    lost.filter(([name]) => inside.get(name)?.outcome === 'failed'),
    lost.filter(([name]) => inside.get(name)?.outcome === 'skipped'),
    lost.filter(([name]) => !inside.has(name)),
  ];
  console.log(
    `${suite}: ${passed.length} pass outside; inside ${failed.length} of them fail, ${skipped.length} are skipped, ${missing.length} did not run (${outcome.verdict.kind})`,
  );
  for (const [name] of failed) console.log(`  failed ${name}: ${inside.get(name)!.said}`);
  for (const [name] of skipped) console.log(`  skipped ${name}`);
  if (missing.length > 0)
    console.log(
      `  did not run: ${missing
        .slice(0, 5)
        .map(([name]) => name)
        .join(', ')} …`,
    );
  if (!inside.has('')) console.log(outcome.stderr.text.slice(-2000));
}

function snippetOf(suite: string): Snippet {
  return {
    name: suite,
    code: source,
    argv: [suite],
    stdin: '',
    env: {},
    files: {},
    python: 10,
    packages: [],
    long: true,
  };
}

/** The last word on each test: a subtest that failed comes before its test. */
function testsOf(stdout: string): Map<string, Test> {
  const tests = new Map<string, Test>();
  for (const [, outcome, name, said] of stdout.matchAll(/^test-report: (\w+)\t(.*?)\t(.*)$/gm)) {
    if (tests.get(name!)?.outcome !== 'failed') tests.set(name!, { outcome: outcome!, said: said! });
  }
  return tests;
}
