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
  `${Math.round(row.utilization * 100)} %`,
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
    ...rows.map((row) => rowOf(`${row.rate}${isSustained(row) ? '' : ' (not reached)'}`, row)),
    ...most.map((row) =>
      rowOf(`as many as possible, ${row.fronts === 1 ? 'one front end' : `${row.fronts} front ends`}`, row),
    ),
  ];
  return `${table(head, drawn)}

${workers} workers with the real protocol and their own connections, in two processes, answer print(1) from runs that were recorded on a real
worker (median ${figure(recordedMs, ' ms')}); ${FRONTS} front ends without an audit trail send the runs. "Routing" is the time from the offer of a run to a claimed
worker. Messages and bytes are those that the NATS server received and sent for each run, and CPU is that of each run; without them
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

/** Names what is full. */
function bottleneck(full, single, cores) {
  const parts = {
    'front ends': full.cpu.front,
    'the NATS server': full.cpu.nats,
    'simulated workers': full.cpu.workers,
  };
  const sum = Object.values(parts).reduce((total, one) => total + one, 0);
  const shares = Object.entries(parts)
    .map(([name, one]) => `${name} ${Math.round((100 * one) / sum)} %`)
    .join(', ');
  if (full.cores > 0.85 * cores)
    return `First the cores of this machine are full: ${figure(full.cores)} of ${cores} are in use (${shares}). Of the parts of a cluster, the front end is the first: it is one event loop, busy for ${Math.round(single.utilization * 100)} % of the time when it alone sends ${figure(single.reached, '/s')}.`;
  return `First the event loop of a front end is full: it is busy for ${Math.round(full.utilization * 100)} % of the time, while ${figure(full.cores)} of ${cores} cores are in use (${shares}).`;
}
