// Measures a pandas run over MCP where nothing but PREINSTALLED_PACKAGES is configured: the server learns what to preload.
// `node bench/learned.mjs` measures this row alone.
import { setTimeout as pause } from 'node:timers/promises';
import { bare } from './contenders/bare.mjs';
import { mcpModern } from './contenders/mcp.mjs';
import { makeFolder } from './folder.mjs';
import { timedRun } from './measure/sessions.mjs';
import { ensureEnvironment, findPython, interpreterFacts } from './python.mjs';
import { figure, table } from './report/table.mjs';
import { settingsFor } from './settings.mjs';
import { median } from './statistics.mjs';
import { PANDAS } from './workloads.mjs';

const FIRST_RUNS = 3;

/** Times in ms: of the first runs, one by one, and the median of later ones; undefined without pandas. */
export async function measureLearned({ python, tier }, pandasPython, { isQuick, gapMs }, say = () => {}) {
  if (pandasPython === undefined) return undefined;
  say('pandas sum: a server that learns what to preload …');
  const plain = await bare.open({ ...PANDAS, python: pandasPython });
  const learning = await mcpModern.open({
    ...PANDAS,
    ...interpreterFacts(python, tier),
    preload: [],
    env: {
      PREINSTALLED_PACKAGES: 'numpy pandas',
      SYSTEM_PACKAGES: 'false',
      VENVS_BASE_PATH: makeFolder('environments'),
      EXECUTION_TIMEOUT_MS: '120000',
    },
  });
  try {
    await learning.installed();
    const first = [];
    for (let run = 0; run < FIRST_RUNS - 1; run += 1) first.push(await timedRun(learning, PANDAS));
    const later = [];
    const bareMs = [];
    for (let run = 0; run < (isQuick ? 10 : 40); run += 1) {
      later.push(await timedRun(learning, PANDAS));
      await pause(gapMs);
      if (run % 4 === 0) bareMs.push(await timedRun(plain, PANDAS));
    }
    return { first, laterMs: median(later), slowestMs: Math.max(...later), bareMs: median(bareMs) };
  } finally {
    await learning.close();
  }
}

export const LEARNED_TARGETS = [
  {
    about: 'pandas sum over MCP with PREINSTALLED_PACKAGES only, from the third run on',
    atMost: 0.03,
    unit: '×',
    measure: ({ learned }) => learned && learned.laterMs / learned.bareMs,
  },
];

export function describeLearned({ learned }) {
  if (learned === undefined) return 'Not measured: pandas is not there.';
  const against = (ms) => [figure(ms, ' ms'), figure(ms / learned.bareMs, '×')];
  return table(
    ['pandas sum over MCP, only PREINSTALLED_PACKAGES is set', 'time', '×'],
    [
      ['`python -I -c`, no sandbox', ...against(learned.bareMs)],
      ...learned.first.map((ms, index) => [`run ${index + 1}`, ...against(ms)]),
      [`from run ${FIRST_RUNS} on, median`, ...against(learned.laterMs)],
      ['… the slowest', ...against(learned.slowestMs)],
    ],
  );
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const found = await findPython();
  const settings = settingsFor(process.argv.includes('--quick'));
  const learned = await measureLearned(found, ensureEnvironment(found), settings, console.error);
  console.log(describeLearned({ learned }));
  process.exit();
}
