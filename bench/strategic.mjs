// Compares ten strategic analyses at once, under the rules of a persona, with ten bare spawns of the same Python.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadConfig, Pungi } from '../dist/pungi/src/index.js';
import { serverSettings } from './contenders/server-settings.mjs';
import { outputOf } from './contenders/spawned.mjs';
import { makeFolder } from './folder.mjs';
import { figure, table } from './report/table.mjs';
import { median } from './statistics.mjs';

const AT_ONCE = 10;
/** The time limit of an analysis in the specification of the personas. */
const ALLOWED_MS = 5000;
const PROFILE = 'diego';

const CODE = `
import pandas as pd
import numpy as np

teams = pd.DataFrame({
    "team": np.repeat(["platform", "design", "growth", "core"], 250),
    "cost": np.arange(1000) % 97 + 10.0,
    "gain": np.arange(1000) % 89 + 12.0,
})
table = teams.groupby("team").agg(cost=("cost", "sum"), gain=("gain", "sum"), spread=("gain", "std"))
table["roi"] = (table["gain"] - table["cost"]) / table["cost"] * 100
print(table.sort_values("roi", ascending=False).round(2).to_string())
print(round(float(np.percentile(teams["gain"], 90)), 2))
`;

/** Returns medians and the slowest, in ms; prints why and returns undefined if pandas is not available. */
export async function measureStrategic({ python, tier }, { isQuick, settleMs }, say = () => {}) {
  const env = {
    VENVS_BASE_PATH: join(makeFolder('strategic'), 'environments'),
    MAX_CONCURRENT_EXECUTIONS: `${AT_ONCE}`,
    POOL_SIZE: `${AT_ONCE}`,
    // No analysis is cached.
    RESULT_CACHE_MB: '0',
  };
  const pungi = Pungi.start(loadConfig({ env: serverSettings({ python, tier, preload: [], env }) }));
  try {
    say('strategic: numpy and pandas …');
    const first = await pungi.run({ code: CODE, profile: PROFILE });
    if (first.verdict.kind === 'no-environment') {
      say(`numpy and pandas cannot be installed, the rows are left out: ${first.verdict.message}`);
      return undefined;
    }
    const expected = printed(first);
    const { path } = await pungi.environments.show(first.environment);
    say(`strategic: ${AT_ONCE} at once …`);
    const contenders = {
      pungi: async () => printed(await pungi.run({ code: CODE, profile: PROFILE, fresh: true })),
      bare: () => outputOf(join(path, 'bin', 'python'), ['-I', '-c', CODE]),
    };
    return await compare(contenders, expected, { rounds: isQuick ? 3 : 10, settleMs, full });
  } finally {
    await pungi.close();
  }

  /** Waits until workers are parked before the next round, as between the requests of people. */
  async function full() {
    const { environment } = await pungi.run({ code: CODE, profile: PROFILE, fresh: true });
    while ((await pungi.health(environment)).pool.parked < AT_ONCE) await pause(10);
  }
}

async function compare(contenders, expected, { rounds, settleMs, full }) {
  const samples = { pungi: [], bare: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const [id, run] of Object.entries(contenders)) {
      await full();
      await pause(settleMs);
      const took = await Promise.all(Array.from({ length: AT_ONCE }, () => timed(run, expected)));
      // The first round warms caches and pools.
      if (round > 0) samples[id].push(...took);
    }
  }
  return {
    pungiMs: median(samples.pungi),
    bareMs: median(samples.bare),
    slowestMs: Math.max(...samples.pungi),
    slowestBareMs: Math.max(...samples.bare),
  };
}

async function timed(run, expected) {
  const started = performance.now();
  const got = await run();
  const took = performance.now() - started;
  if (got !== expected) throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
  return took;
}

function printed({ verdict, stdout, stderr }) {
  if (verdict.kind === 'ok') return stdout.text;
  throw new Error(`the analysis ended as ${verdict.kind}: ${verdict.message}\n${stderr.text}`);
}

export const STRATEGIC_TARGETS = [
  {
    about: `${AT_ONCE} strategic analyses at once, median, to bare spawns with pandas`,
    atMost: 0.05,
    unit: '×',
    measure: ({ strategic }) => strategic && strategic.pungiMs / strategic.bareMs,
  },
  {
    about: `… the slowest of them`,
    below: ALLOWED_MS,
    unit: ' ms',
    measure: ({ strategic }) => strategic?.slowestMs,
  },
];

export function describeStrategic({ strategic }) {
  const { pungiMs, bareMs, slowestMs, slowestBareMs } = strategic ?? {};
  return [
    table(
      ['', 'median', 'slowest'],
      [
        [`Pungi, profile ${PROFILE}`, figure(pungiMs, ' ms'), figure(slowestMs, ' ms')],
        ['`python -I -c`, no sandbox', figure(bareMs, ' ms'), figure(slowestBareMs, ' ms')],
      ],
    ),
    `
Each is one of ${AT_ONCE} that begin at the same moment: a table of returns from 1000 rows, with the packages, scope rules and
disclosure of the persona, recorded in the audit trail, and no outcome taken from the cache. The bare spawn is the
interpreter of the same environment.`,
  ].join('\n');
}
