// Measures what a second worker adds: two workers with a core each, compared with one of them.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { figure, table } from '../report/table.mjs';
import { median } from '../statistics.mjs';
import { spending } from './cpu.mjs';
import { World } from './world.mjs';

const SLOTS = 2;
/** Enough that no worker waits for the next run. */
const AT_ONCE = 6;
const FULL = { rounds: 3, roundMs: 4000 };
const QUICK = { rounds: 1, roundMs: 1500 };
const loop = (count) => `total = 0\nfor n in range(${count}):\n    total += n * n\nprint(total > 0)`;
const LOOPS = 1_000_000;
const KINDS = [
  { id: 'computing', name: '50 ms of Python' },
  { id: 'print', name: 'print(1)', code: 'print(1)' },
];
const LONG_MS = 50;

/** Returns the rates of one and two workers, by kind of run, and how this machine scales without Pungi. */
export async function measureThroughput(facts, { isQuick }) {
  if (process.platform !== 'linux') throw new Error('only Linux pins processes to cores with taskset');
  if (availableParallelism() < 2) throw new Error('it needs two cores');
  const settings = isQuick ? QUICK : FULL;
  const world = await World.open(facts);
  try {
    const workers = await Promise.all(
      [0, 1].map((core) =>
        world.worker(`core-${core}`, { slots: SLOTS, labels: [`core=${core}`], cores: core }),
      ),
    );
    const { pungi } = await world.front(2);
    const count = await loopsOf(pungi);
    const processes = {
      nats: world.nats.child.pid,
      front: process.pid,
      one: workers[0].child.pid,
      other: workers[1].child.pid,
    };
    const kinds = [];
    for (const { id, name, code = loop(count) } of KINDS)
      kinds.push({ id, name, ...(await compare(pungi, code, processes, settings)) });
    return {
      kinds,
      machine: await machineScaling(facts.python, count, settings),
      cores: availableParallelism(),
    };
  } finally {
    await world.close();
  }
}

/** How often the loop goes round in 50 ms of CPU time here. */
async function loopsOf(pungi) {
  const samples = [];
  for (let run = 0; run < 5; run += 1) {
    const { usage, verdict } = await pungi.run({ code: loop(LOOPS) });
    if (verdict.kind !== 'ok') throw new Error(`a run ended as ${verdict.kind}: ${verdict.message}`);
    samples.push(usage.cpuMs);
  }
  return Math.round((LOOPS * LONG_MS) / median(samples));
}

/** One worker and two, in turn: the labels of a run choose. */
async function compare(pungi, code, processes, { rounds, roundMs }) {
  const sums = { one: newSum(), two: newSum() };
  const requests = { one: { code, labels: { core: '0' } }, two: { code } };
  await load(pungi, requests.two, 300);
  for (let round = 0; round < rounds; round += 1)
    for (const [id, request] of Object.entries(requests)) {
      const { result: runs, tookMs, cpu } = await spending(processes, () => load(pungi, request, roundMs));
      const sum = sums[id];
      sum.runs += runs;
      sum.ms += tookMs;
      sum.nats += cpu.nats;
      sum.front += cpu.front;
      sum.workers += cpu.one + cpu.other;
    }
  return { one: perRun(sums.one), two: perRun(sums.two) };
}

const newSum = () => ({ runs: 0, ms: 0, nats: 0, front: 0, workers: 0 });

const perRun = ({ runs, ms, nats, front, workers }) => ({
  rate: (runs * 1000) / ms,
  nats: nats / runs,
  front: front / runs,
  workers: workers / runs,
});

/** Keeps so many runs under way, and returns how many have ended. */
async function load(pungi, request, ms) {
  const deadline = performance.now() + ms;
  let runs = 0;
  const lane = async () => {
    while (performance.now() < deadline) {
      const { verdict } = await pungi.run(request);
      if (verdict.kind !== 'ok') throw new Error(`a run ended as ${verdict.kind}: ${verdict.message}`);
      runs += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return runs;
}

/** The same loop in bare Python on one core and on both: cores that share a processor's units do not give twice as much. */
async function machineScaling(python, count, { rounds, roundMs }) {
  const code = `import time\nend = time.monotonic() + ${roundMs / 1000}\nruns = 0\nwhile time.monotonic() < end:\n    total = 0\n    for n in range(${count}):\n        total += n * n\n    runs += 1\nprint(runs)`;
  const sums = { one: 0, two: 0 };
  for (let round = 0; round < rounds; round += 1) {
    sums.one += await pinned(python, code, 0);
    const both = await Promise.all([pinned(python, code, 0), pinned(python, code, 1)]);
    sums.two += both[0] + both[1];
  }
  return sums.two / sums.one;
}

async function pinned(python, code, core) {
  const child = spawn('taskset', ['-c', `${core}`, python, '-I', '-c', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  const status = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (status !== 0) throw new Error(`taskset ended with ${status}`);
  return Number(printed);
}

const kindOf = ({ throughput }, wanted) => throughput?.kinds.find(({ id }) => id === wanted);
const ratioOf = (kind) => kind && kind.two.rate / kind.one.rate;

/** What both workers would do if front end, NATS and load were on another machine. */
export const workersAlone = ({ one, two }) => {
  const free = (cores, { workers }) => (cores * 1000) / workers;
  return free(2, two) / free(1, one);
};

export const THROUGHPUT_TARGETS = [
  {
    about: 'runs of 50 ms: two workers with a core each, to one worker with one core',
    atLeast: 1.8,
    unit: '×',
    measure: (results) => ratioOf(kindOf(results, 'computing')),
  },
];

/** What two workers reach of what these cores can do at all. */
function shareOf(kinds, machine) {
  const ratio = ratioOf(kinds.find(({ id }) => id === 'computing'));
  return `: two workers reach ${figure((100 * ratio) / machine, ' %')} of that with 50 ms of Python`;
}

export function describeThroughput({ throughput: { kinds, machine, cores } }) {
  const rows = kinds.map(({ name, one, two }) => [
    name,
    figure(one.rate, '/s'),
    figure(two.rate, '/s'),
    figure(two.rate / one.rate, '×'),
    figure(two.workers, ' ms'),
    figure(two.front, ' ms'),
    figure(two.nats, ' ms'),
    figure(workersAlone({ one, two }), '×'),
  ]);
  const head = ['', 'one worker', 'two', 'ratio', 'CPU: worker', 'front end', 'NATS', 'workers alone'];
  return `${table(head, rows)}

Workers are pinned to a core each; a label of the run chooses one of them, or none both, in turn. Front end, NATS and the load
have no cores of their own: of the ${cores} cores here they take what a worker would use, and the more of it the shorter a run is. "CPU" is
for each run, with two workers. "Workers alone" is a calculation from it: the rate of two cores that only run code, to that of one.
Two bare Python processes on these cores do ${figure(machine, '×')} of one${shareOf(kinds, machine)}.`;
}
