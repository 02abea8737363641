// Simulates a large cluster on this machine: a real NATS server, real front ends, and workers that answer from recorded runs.
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startWorker } from '../../dist/cluster/src/index.js';
import { machineBackend, machineEnvironments } from '../../dist/core/src/index.js';
import { loadConfig, silentLogger } from '../../dist/pungi/src/index.js';
import { median, summarize } from '../statistics.mjs';
import { spending } from './cpu.mjs';
import { frontSettings, World } from './world.mjs';

const programOf = (name) => fileURLToPath(new URL(name, import.meta.url));
export const FRONTS = 2;
const PROCESSES = 2;
const SLOTS = 4;
const FULL = {
  workers: 200,
  recorded: 300,
  rates: [200, 500, 1000, 2000, 5000, 10_000, 20_000],
  ms: 6000,
  lanes: 64,
};
const QUICK = { workers: 20, recorded: 30, rates: [100, 300], ms: 1000, lanes: 16 };
/** Of the runs that were planned, in the time that was planned. */
const SUSTAINED = { share: 0.97, late: 1.15 };
/** After more runs than it can answer, a cluster has to catch up. */
const SETTLE_MS = 3000;

/** Returns what each rate leads to, and what is possible with one front end and with several. */
export async function measureSimulation(facts, { isQuick }, say = () => {}) {
  const settings = isQuick ? QUICK : FULL;
  const world = await World.open(facts);
  try {
    const recording = await record(world, facts, settings);
    const simulated = await startWorkers(world, recording.path, settings);
    const fronts = await Promise.all(
      Array.from({ length: FRONTS }, (_, index) => startFront(world, `front-${index}`, settings.workers)),
    );
    const measure = measurer(world, simulated, fronts);
    const idle = await measure([], {}, settings.ms / 2);
    await measure(fronts, { lanes: settings.lanes }, settings.ms / 2); // compilers get warm
    const rows = [];
    for (const rate of settings.rates) {
      say(`${rate} runs a second …`);
      const row = { rate, ...(await measure(fronts, { rate: rate / FRONTS }, settings.ms, idle)) };
      rows.push(row);
      if (!isSustained(row)) break;
    }
    const most = [];
    await pause(SETTLE_MS);
    for (const count of [1, FRONTS]) {
      say(`as many as possible, ${count === 1 ? 'one front end' : `${count} front ends`} …`);
      most.push({
        fronts: count,
        ...(await measure(fronts.slice(0, count), { lanes: settings.lanes }, settings.ms, idle)),
      });
    }
    const cores = availableParallelism();
    return { rows, most, idle, cores, workers: settings.workers, recordedMs: recording.medianMs };
  } finally {
    await world.close();
  }
}

export const isSustained = ({ planned, expected, ok, lateness }) =>
  ok >= SUSTAINED.share * (expected ?? planned) && lateness <= SUSTAINED.late;

/** Runs print(1) on a real worker, and writes what it answered and how long it took. */
async function record(world, { python, tier }, { recorded }) {
  const env = { PUNGI_PYTHON: python, PUNGI_TIER: tier, ALLOW_UNSANDBOXED: String(tier === 'process') };
  const config = loadConfig({ env: { ...env, LOG_LEVEL: 'error' } });
  const found = { runs: [] };
  const machine = machineBackend(config, silentLogger);
  const worker = await startWorker({
    address: world.address,
    creds: world.workerCreds,
    worker: { name: 'recorded', labels: {}, slots: SLOTS, trail: world.path('recorded.jsonl'), diskMb: 1000 },
    backend: recordingBackend(machine, found),
    environments: machineEnvironments(config, world.path('recorded'), machine, silentLogger),
    logger: silentLogger,
  });
  try {
    const { pungi } = await world.front(1);
    for (let run = 0; run < recorded; run += 1) await pungi.run({ code: 'print(1)' });
    await pungi.close();
  } finally {
    await worker.drain();
  }
  // The first ones find nothing warm.
  const runs = found.runs.slice(Math.floor(found.runs.length / 10));
  const path = world.path('recording.json');
  writeFileSync(path, JSON.stringify({ ...found, runs }));
  return { path, medianMs: median(runs.map(({ ms }) => ms)) };
}

function recordingBackend(machine, found) {
  const start = async (signal) => {
    found.state = await machine.start(signal);
    return found.state;
  };
  const acquire = async (spec, signal) => {
    const worker = await machine.acquire(spec, signal);
    found.about = worker.about;
    const run = worker.run.bind(worker);
    worker.run = async (job, id, sink, stop) => {
      const [began, output] = [performance.now(), []];
      const kept = (stream, data) => {
        output.push([stream, data.toString('base64')]);
        return sink(stream, data);
      };
      const end = await run(job, id, kept, stop);
      if (job.task === undefined) found.runs.push({ ms: performance.now() - began, output, end });
      return end;
    };
    return worker;
  };
  const replaced = { start, acquire };
  return new Proxy(machine, {
    get(target, name) {
      const own = replaced[name] ?? target[name];
      return typeof own === 'function' && !(name in replaced) ? own.bind(target) : own;
    },
  });
}

async function startWorkers(world, recording, { workers }) {
  const count = Math.ceil(workers / PROCESSES);
  return Promise.all(
    Array.from({ length: PROCESSES }, async (_, index) => {
      const started = world.start(
        `workers-${index}`,
        process.execPath,
        [programOf('simulated-workers.mjs')],
        {
          ipc: true,
        },
      );
      const { address, workerCreds: creds } = world;
      const folder = world.path(`workers-${index}`);
      const order = { address, creds, first: index * count, count, slots: SLOTS, recording, folder };
      const ready = new Promise((resolve) => started.child.once('message', resolve));
      started.child.send(order);
      await orEnd(started, ready);
      return started;
    }),
  );
}

async function startFront(world, name, workers) {
  const started = world.start(name, process.execPath, [programOf('load.mjs')], { ipc: true });
  const env = {
    ...frontSettings(world.path(name)),
    AUDIT: 'false',
    MAX_CONCURRENT_EXECUTIONS: '1000',
    MAX_QUEUED_EXECUTIONS: '1000',
  };
  let serial = 0;
  const ask = (order) => {
    serial += 1;
    const id = serial;
    const answer = new Promise((resolve, reject) => {
      const hear = (message) => {
        if (message.id !== id) return;
        started.child.off('message', hear);
        if (message.error) reject(new Error(message.error));
        else resolve(message.result);
      };
      started.child.on('message', hear);
    });
    started.child.send({ id, ...order });
    return orEnd(started, answer);
  };
  await ask({ kind: 'open', address: world.address, creds: world.frontCreds, env, workers });
  return { pid: started.child.pid, load: (order) => ask({ kind: 'load', ...order }) };
}

const orEnd = (started, answer) =>
  Promise.race([
    answer,
    started.ended.then(() => {
      throw new Error(`${started.name} ended: ${started.printed.trim().slice(-500)}`);
    }),
  ]);

/** Returns a function that loads front ends for a time and returns what that took, less what the idle cluster takes. */
function measurer(world, simulated, fronts) {
  const processes = { nats: world.nats.child.pid };
  for (const [index, { child }] of simulated.entries()) processes[`workers-${index}`] = child.pid;
  for (const [index, { pid }] of fronts.entries()) processes[`front-${index}`] = pid;
  return async (used, order, ms, idle) => {
    const [before, idleBefore] = [await world.natsFigures(), idleTime()];
    const { result, tookMs, cpu } = await spending(processes, async () => {
      if (used.length === 0) await pause(ms);
      return Promise.all(used.map(({ load }) => load({ ...order, ms })));
    });
    const [after, idleAfter] = [await world.natsFigures(), idleTime()];
    const spent = (prefix) =>
      Object.entries(cpu).reduce((sum, [name, part]) => sum + (name.startsWith(prefix) ? part : 0), 0);
    const perSecond = (value) => (value * 1000) / tookMs;
    const figures = {
      messages: perSecond(after.messages - before.messages),
      bytes: perSecond(after.bytes - before.bytes),
      nats: perSecond(spent('nats')),
      front: perSecond(spent('front')),
      workers: perSecond(spent('workers')),
      /** Of all cores, whoever uses them. */
      machine: 1 - (idleAfter.idle - idleBefore.idle) / (idleAfter.all - idleBefore.all),
    };
    return summarizeLoad(result, figures, { ms, tookMs, idle, rate: order.rate });
  };
}

/** Of all cores together, in ms. */
function idleTime() {
  const times = cpus().map((one) => one.times);
  const all = times.reduce((sum, one) => sum + one.user + one.nice + one.sys + one.idle + one.irq, 0);
  return { idle: times.reduce((sum, { idle }) => sum + idle, 0), all };
}

/** `figures`: for each second. */
function summarizeLoad(results, figures, { ms, tookMs, idle, rate }) {
  if (results.length === 0) return figures;
  const sum = (name) => results.reduce((total, one) => total + one[name], 0);
  const [ok, planned] = [sum('ok'), sum('planned')];
  const seconds = tookMs / 1000;
  const perRun = (name) => (Math.max(0, figures[name] - (idle?.[name] ?? 0)) * seconds) / ok;
  const expected = rate === undefined ? undefined : Math.floor((results.length * rate * ms) / 1000);
  const lateness = Math.max(...results.map((one) => one.tookMs)) / ms;
  const other = {};
  for (const one of results)
    for (const [kind, count] of Object.entries(one.other)) other[kind] = (other[kind] ?? 0) + count;
  return {
    ...{ planned, expected, ok, other, lateness },
    reached: ok / Math.max(ms / 1000, Math.max(...results.map((one) => one.tookMs)) / 1000),
    routing: summarize(results.flatMap(({ routing }) => routing)),
    messages: perRun('messages'),
    bytes: perRun('bytes'),
    cpu: { nats: perRun('nats'), front: perRun('front'), workers: perRun('workers') },
    cores: (figures.nats + figures.front + figures.workers) / 1000,
    utilization: Math.max(...results.map((one) => one.utilization)),
    machine: figures.machine,
  };
}

export { describeSimulation, SIMULATION_TARGETS } from './simulation-report.mjs';
