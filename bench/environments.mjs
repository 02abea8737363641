// Compares named environments with `python -m venv` and pip, all with the machine's index settings.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadConfig, Pungi } from '../dist/pungi/src/index.js';
import { serverSettings } from './contenders/server-settings.mjs';
import { outputOf } from './contenders/spawned.mjs';
import { makeFolder } from './folder.mjs';
import { figure, table } from './report/table.mjs';
import { median } from './statistics.mjs';

const PACKAGES = ['numpy', 'pandas'];
const FULL = { creations: 10, installs: 3, rounds: 10, runsInRound: 20 };
const QUICK = { creations: 3, installs: 1, rounds: 2, runsInRound: 20 };

/** Returns medians in ms of alternating samples; `install` is left out if the index cannot be reached. */
export async function measureEnvironments({ python, tier }, { isQuick, gapMs, settleMs }, say = () => {}) {
  const counts = isQuick ? QUICK : FULL;
  const folder = makeFolder('environments');
  const base = join(folder, 'environments');
  const settings = serverSettings({ python, tier, preload: [], env: { VENVS_BASE_PATH: base } });
  const pungi = Pungi.start(loadConfig({ env: settings }));
  try {
    await pungi.ready();
    say('environments: created …');
    const create = await compareCreation(pungi, { python, folder }, counts);
    say('environments: runs …');
    const run = await compareRuns(pungi, counts, { gapMs, settleMs });
    say(`environments: ${PACKAGES.join(' and ')} …`);
    const install = await compareInstallation(pungi, { python, folder }, counts).catch((error) => {
      say(
        `${PACKAGES.join(' and ')} cannot be installed, the row is left out: ${error.message.split('\n')[0]}`,
      );
    });
    return { create, run, install };
  } finally {
    await pungi.close();
  }
}

/** Creates an environment without packages; the first pair only fills the file cache. */
async function compareCreation(pungi, { python, folder }, { creations }) {
  const own = [];
  const other = [];
  for (let round = 0; round <= creations; round += 1) {
    const venv = join(folder, `venv-${round}`);
    const otherMs = await timed(() => outputOf(python, ['-m', 'venv', venv]));
    const ownMs = await timed(() => pungi.environments.create({ venvName: `empty-${round}` }));
    if (!existsSync(join(venv, 'bin/python'))) throw new Error(`python -m venv created nothing in ${venv}`);
    if (round === 0) continue;
    own.push(ownMs);
    other.push(otherMs);
  }
  await expectPrinted(
    pungi,
    { code: 'import sys; print(sys.prefix != sys.base_prefix)', venvName: 'empty-1' },
    'True\n',
  );
  return { pungiMs: median(own), otherMs: median(other) };
}

/** Creates a second environment with the same packages, so that each tool can use its cache. */
async function compareInstallation(pungi, { python, folder }, { installs }) {
  const cache = join(folder, 'pip-cache');
  const own = [];
  const other = [];
  for (let round = 0; round <= installs; round += 1) {
    const venvName = `filled-${round}`;
    const venv = join(folder, venvName);
    await outputOf(python, ['-m', 'venv', venv]);
    const otherMs = await timed(() => pipInstall(join(venv, 'bin/python'), cache));
    const ownMs = await timed(() => pungi.environments.create({ venvName, packages: PACKAGES }));
    await expectPrinted(
      pungi,
      { code: 'import numpy, pandas; print(pandas.DataFrame([[1]]).size)', venvName },
      '1\n',
    );
    if (round === 0) continue;
    own.push(ownMs);
    other.push(otherMs);
  }
  return { pungiMs: median(own), otherMs: median(other) };
}

const pipInstall = (python, cache) =>
  outputOf(python, [
    ...['-I', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input'],
    ...['--only-binary=:all:', '--cache-dir', cache, ...PACKAGES],
  ]);

/** Measures the same run in a named environment and in the default one, both warm. */
async function compareRuns(pungi, { rounds, runsInRound }, { gapMs, settleMs }) {
  const named = [];
  const unnamed = [];
  for (let round = 0; round <= rounds; round += 1) {
    // The order alternates, because the second may find the machine in another state.
    const batches = [
      [{ code: 'print(1)', venvName: 'empty-1' }, named],
      [{ code: 'print(1)' }, unnamed],
    ];
    for (const [request, samples] of round % 2 === 0 ? batches : batches.reverse()) {
      for (let run = 0; run < runsInRound; run += 1) {
        const took = await timed(() => expectPrinted(pungi, request, '1\n'));
        // The first round warms caches and pools.
        if (round > 0) samples.push(took);
        await pause(gapMs);
      }
      await pause(settleMs);
    }
  }
  return { pungiMs: median(named), otherMs: median(unnamed) };
}

async function expectPrinted(pungi, request, expected) {
  const { verdict, stdout, stderr } = await pungi.run(request);
  if (verdict.kind === 'ok' && stdout.text === expected) return;
  throw new Error(`the run ended as ${verdict.kind}: ${verdict.message ?? stdout.text}\n${stderr.text}`);
}

async function timed(act) {
  const started = performance.now();
  await act();
  return performance.now() - started;
}

const ratio = (name) => (results) => {
  const compared = results.environments?.[name];
  return compared && compared.pungiMs / compared.otherMs;
};

export const ENVIRONMENT_TARGETS = [
  { about: 'creating an environment, to `python -m venv`', atMost: 0.1, unit: '×', measure: ratio('create') },
  {
    about: 'a second one with numpy and pandas, to `pip install` with a warm cache',
    atMost: 0.2,
    unit: '×',
    measure: ratio('install'),
  },
  // Not slower, with a margin for noise.
  {
    about: 'a run in a named environment, to the default one',
    atMost: 1.1,
    unit: '×',
    measure: ratio('run'),
  },
];

const ROWS = {
  create: ['creating an environment', '`python -m venv`'],
  install: ['a second one with numpy and pandas', '`pip install`, warm cache'],
  run: ['print(1) in a named environment', 'in the default one'],
};

export function describeEnvironments(results) {
  const rows = Object.entries(ROWS).map(([name, [about, instead]]) => {
    const { pungiMs, otherMs } = results.environments?.[name] ?? {};
    return [
      about,
      figure(pungiMs, ' ms'),
      instead,
      figure(otherMs, ' ms'),
      figure(ratio(name)(results), '×'),
    ];
  });
  return table(['', 'Pungi', 'to', '', '×'], rows);
}
