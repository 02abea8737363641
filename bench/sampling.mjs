// Measures the cost of enforcing limits on a run of many processes: CPU time of its supervisor, in percent of a core.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Pungi } from '../dist/pungi/src/index.js';

const PROCESSES = 50;
const MEASURED_MS = 3000;
const TICKS_PER_SECOND = 100;
const KINDS = {
  sleeping: 'time.sleep(60)',
  busy: 'while True: pass',
  'waking 100 times a second': 'while True: time.sleep(0.01)',
};

const code = (kind) => `
import os, sys, time
for _ in range(${PROCESSES}):
    if os.fork() == 0:
        ${KINDS[kind].replace('\n', '\n        ')}
print("ready", flush=True)
time.sleep(${(2 * MEASURED_MS) / 1000})
os._exit(0)
`;

/** Returns the percentage of a core that the supervisor of a run uses. */
async function measure(kind, settings) {
  const pungi = Pungi.start({ audit: false, toolsDir: 'off', poolSize: 1, maxCpuMs: 600_000, ...settings });
  try {
    await pungi.ready();
    const { promise: isReady, resolve: ready } = withResolvers();
    const running = pungi.run({ code: code(kind) }, { onLine: ready });
    await Promise.race([isReady, running]);
    const before = supervisors();
    await pause(MEASURED_MS);
    const after = supervisors();
    const { verdict, isolation } = await running;
    if (verdict.kind !== 'ok') throw new Error(`${kind}: ${verdict.message}`);
    const spent = [...after].map(([pid, { cpu, at }]) => {
      const { cpu: cpuBefore, at: atBefore } = before.get(pid) ?? { cpu, at: 0 };
      return ((cpu - cpuBefore) / TICKS_PER_SECOND / ((at - atBefore) / 1000)) * 100;
    });
    return { percent: Math.max(...spent), features: isolation.features };
  } finally {
    await pungi.close();
  }
}

function withResolvers() {
  let resolve;
  const promise = new Promise((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Returns the CPU time of processes whose child has many children: the supervisors of such runs. */
function supervisors() {
  const at = performance.now();
  const all = new Map();
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'latin1').replace(/.*\) /s, '').split(' ');
      all.set(Number(name), { parent: Number(fields[1]), cpu: Number(fields[11]) + Number(fields[12]), at });
    } catch {}
  }
  const children = new Map();
  for (const { parent } of all.values()) children.set(parent, (children.get(parent) ?? 0) + 1);
  const crowded = [...all].filter(([pid]) => (children.get(pid) ?? 0) >= PROCESSES);
  return new Map(crowded.flatMap(([, { parent }]) => (all.has(parent) ? [[parent, all.get(parent)]] : [])));
}

export async function sampling() {
  const rows = [];
  for (const cgroups of ['off', 'auto'])
    for (const kind of Object.keys(KINDS)) {
      const { percent, features } = await measure(kind, { cgroups });
      const group = features.find((one) => one.startsWith('cgroup')) ? 'cgroup' : 'no cgroup';
      rows.push([`${PROCESSES} ${kind} processes, ${group}`, `${percent.toFixed(1)} %`]);
    }
  return rows;
}

if (import.meta.url === `file://${process.argv[1]}`) console.table(await sampling());
