// Formats the simulation, and what follows from it for 20,000 runs a second.
import { figure, table } from '../report/table.mjs';
import { FRONTS, isSustained } from './simulation.mjs';

const GOAL = 20_000;

/** The highest rate at which every run was answered in time: planned, or with runs always under way. */
export const highestRate = ({ rows, most }) =>
  Math.max(...rows.filter(isSustained).map(({ reached }) => reached), ...most.map(({ reached }) => reached));

export const SIMULATION_TARGETS = [
  {
    about: '200 simulated workers: runs a second',
    atLeast: GOAL,
    unit: '/s',
    measure: ({ simulation }) => simulation && highestRate(simulation),
  },
];

/** How runs ended that were not answered. */
const failures = ({ other }) =>
  Object.entries(other)
    .map(([kind, count]) => `, ${count} ${kind}`)
    .join('');

const rowOf = (name, row) => [
  name,
  `${figure(row.reached, '/s')}`,
  figure(row.routing.median, ' ms'),
  figure(row.routing.p99, ' ms'),
  figure(row.messages),
  figure(row.bytes / 1024, ' KiB'),
  figure(row.cpu.front, ' ms'),
  figure(row.cpu.nats, ' ms'),
  figure(row.cpu.workers, ' ms'),
  `${figure(row.cores)}`,
  percent(row.utilization),
];

export function describeSimulation({ simulation }) {
  const { rows, most, idle, workers, recordedMs, cores } = simulation;
  const head = [
    'runs a second',
    'answered',
    'routing p50',
    'p99',
    'messages',
    'bytes',
    'CPU: front end',
    'NATS',
    'worker',
    'cores in use',
    'front end busy',
  ];
  const drawn = [
    ...rows.map((row) =>
      rowOf(`${row.rate}${isSustained(row) ? '' : ` (not reached${failures(row)})`}`, row),
    ),
    ...most.map((row) =>
      rowOf(`as many as possible, ${row.fronts === 1 ? 'one front end' : `${row.fronts} front ends`}`, row),
    ),
  ];
  return `${table(head, drawn)}

${workers} workers with the real protocol and their own connections, in two processes, answer print(1) from runs that were recorded on a real
worker (median ${figure(recordedMs, ' ms')}); ${FRONTS} front ends without an audit trail send the runs. "Routing" is the time until
a worker is chosen, or has claimed the run. Messages and bytes are those that the NATS server received and sent for each run, and CPU is that of each run; without them
the cluster's heartbeats take ${figure(idle.messages)} messages a second and ${figure((idle.nats + idle.front + idle.workers) / 10, ' %')} of a core.

${conclusion(simulation, cores)}`;
}

function conclusion(simulation, cores) {
  const { most, rows } = simulation;
  const highest = highestRate(simulation);
  const full = most.reduce((best, one) => (one.reached > best.reached ? one : best));
  const { front, nats, workers } = full.cpu;
  const single = most.find(({ fronts }) => fronts === 1);
  const last = rows.filter(isSustained).at(-1);
  const sustained = last
    ? `${last.rate} runs a second were sustained at a given rate, with a p99 of ${figure(last.routing.p99, ' ms')} for routing.`
    : 'None of the given rates was sustained.';
  const need = (ms) => figure((ms * GOAL) / 1000);
  return `**The highest rate here was ${figure(highest, '/s')}.** ${sustained} ${bottleneck(full, single, cores)}

For ${GOAL} runs a second these figures predict, without a measurement on such machines: ${need(front)} cores for front ends, as one process each (one
answers at most ${figure(1000 / front, '/s')} here); ${need(nats)} cores of the NATS server, which uses several; and ${figure((workers * GOAL) / 200 / 1000)} of a core on each of 200
workers for the protocol, beside the runs themselves.`;
}

/** Names what is full, by the figures of the highest rate. */
function bottleneck(full, single, cores) {
  const parts = {
    'front ends': full.cpu.front,
    'the NATS server': full.cpu.nats,
    'simulated workers': full.cpu.workers,
  };
  const sum = Object.values(parts).reduce((total, one) => total + one, 0);
  const shares = Object.entries(parts)
    .map(([name, one]) => `${name} ${percent(one / sum)}`)
    .join(', ');
  const inUse = `the cluster uses ${figure(full.cores)} of ${cores} cores (${shares})`;
  const front = `the event loop of a front end, busy for ${percent(single.utilization)} of the time when one sends ${figure(single.reached, '/s')}`;
  if (full.machine > 0.9) {
    const others = full.cores < 0.8 * cores ? ', and other work of the machine the rest' : '';
    return `**The first bottleneck is the cores of this machine**, of which ${percent(full.machine)} are in use: ${inUse}${others}. Of the parts of a cluster it is ${front}.`;
  }
  if (single.utilization > 0.85) return `**The first bottleneck is ${front}**; ${inUse}.`;
  return `Nothing is full: ${inUse}, and ${percent(full.machine)} of the machine is busy. More runs at once would be needed.`;
}

const percent = (share) => `${Math.round(share * 100)} %`;
