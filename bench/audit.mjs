// Measures what gate and audit trail add to a run: the engine alone, then Pungi without its audit trail and with both
// of its modes.
import { setTimeout as pause } from 'node:timers/promises';
import { Engine } from '../dist/core/src/engine/engine.js';
import { Gate } from '../dist/core/src/gate/gate.js';
import { loadProfiles } from '../dist/core/src/gate/profiles/load-profiles.js';
import { engineOptions } from '../dist/core/src/pungi/parts.js';
import { loadConfig, silentLogger } from '../dist/pungi/src/index.js';
import { library } from './contenders/library.mjs';
import { serverSettings } from './contenders/server-settings.mjs';
import { timedRun, withSessions } from './measure/sessions.mjs';
import { figure, table } from './report/table.mjs';
import { median } from './statistics.mjs';
import { PRINT } from './workloads.mjs';

/** Neither decides nor records. */
const engineAlone = {
  id: 'engine',
  name: 'the engine alone',
  async open(workload) {
    const config = loadConfig({ env: serverSettings(workload) });
    const admitted = await new Gate(config, loadProfiles(config)).admitOwn({ code: workload.code });
    // The same job: the files that it leaves are collected.
    const job = { ...admitted.job, artifactBytes: config.artifactMb * 1024 * 1024 };
    const engine = new Engine(engineOptions(config), silentLogger);
    await engine.started;
    while (engine.backend.figures(config.defaultVenvName).parked < config.poolSize) await pause(10);
    return {
      run: async () => (await engine.run({ job })).stdout.text,
      close: () => engine.close(),
    };
  },
};

const recording = (id, name, env) => ({
  id,
  name,
  open: (workload) => library.open({ ...workload, env }),
});

const CONTENDERS = [
  engineAlone,
  recording('off', 'with the gate, no audit trail', { AUDIT: 'false' }),
  recording('normal', '… and an audit trail, `AUDIT_SYNC=normal` (the default)', { AUDIT_SYNC: 'normal' }),
  recording('full', '… and an audit trail, `AUDIT_SYNC=full`', { AUDIT_SYNC: 'full' }),
];

const FULL = { rounds: 100, runsInRound: 6 };
const QUICK = { rounds: 30, runsInRound: 6 };

/** Returns medians in ms of alternating runs, by id. */
export async function measureAudit(facts, { isQuick, gapMs, settleMs }, say = () => {}) {
  const { rounds, runsInRound } = isQuick ? QUICK : FULL;
  say('print(1): what the gate and the audit trail add …');
  return withSessions(CONTENDERS, { ...PRINT, ...facts }, async (open) => {
    const samples = new Map(open.map(({ id }) => [id, []]));
    for (let round = 0; round <= rounds; round += 1) {
      // The order alternates, because later contenders may find the machine in another state.
      for (const { id, session } of round % 2 === 0 ? open : open.toReversed()) {
        for (let run = 0; run < runsInRound; run += 1) {
          const took = await timedRun(session, PRINT);
          // The first round warms caches and pools.
          if (round > 0) samples.get(id).push(took);
          await pause(gapMs);
        }
        await pause(settleMs);
      }
    }
    return Object.fromEntries([...samples].map(([id, measured]) => [id, median(measured)]));
  });
}

const ratio = (id) => (results) => results.audit && results.audit[id] / results.audit.engine;

export const AUDIT_TARGETS = [
  {
    about: 'print(1) with gate and audit trail in the default mode, to the engine alone',
    atMost: 1.15,
    unit: '×',
    measure: ratio('normal'),
  },
];

export function describeAudit(results) {
  const rows = CONTENDERS.map(({ id, name }) => [
    `print(1): ${name}`,
    figure(results.audit?.[id], ' ms'),
    figure(ratio(id)(results), '×'),
  ]);
  return table(['', 'median', '×'], rows);
}
