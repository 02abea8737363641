// Measures what the cluster adds to a run: print(1) through NATS and a worker, compared with the same process without them.
import { library } from '../contenders/library.mjs';
import { measureLatency } from '../measure/latency.mjs';
import { figure, table } from '../report/table.mjs';
import { summarize } from '../statistics.mjs';
import { PRINT } from '../workloads.mjs';
import { World } from './world.mjs';

/** Returns the rows of both, and the time that routing takes: until a worker is chosen, or has claimed the run. */
export async function measureOverhead(facts, settings) {
  const routing = [];
  const cluster = {
    id: 'cluster',
    name: 'Pungi, front end and worker of a cluster',
    async open({ code }) {
      const world = await World.open(facts);
      try {
        await world.worker('worker-1');
        const { pungi, backend } = await world.front(1);
        timeRouting(backend, routing);
        return {
          async run() {
            const { verdict, stdout } = await pungi.run({ code });
            if (verdict.kind !== 'ok')
              throw new Error(`the run ended as ${verdict.kind}: ${verdict.message}`);
            return stdout.text;
          },
          close: () => world.close(),
        };
      } catch (error) {
        await world.close();
        throw error;
      }
    },
  };
  const rows = await measureLatency([library, cluster], { ...PRINT, ...facts }, settings);
  return { rows, routing: summarize(routing) };
}

/** Adds to `samples` how long each run waits for a worker. */
export function timeRouting(backend, samples) {
  const acquire = backend.acquire.bind(backend);
  backend.acquire = async (...given) => {
    const began = performance.now();
    const worker = await acquire(...given);
    samples.push(performance.now() - began);
    return worker;
  };
}

export const addedMs = ({ overhead }) => {
  const medianOf = (name) => overhead?.rows.find(({ id }) => id === name)?.gap.median;
  return overhead && medianOf('cluster') - medianOf('library');
};

export const OVERHEAD_TARGETS = [
  {
    about: 'print(1): what the cluster adds to the median of a local run',
    atMost: 2,
    unit: ' ms',
    measure: addedMs,
  },
];

export function describeOverhead({ overhead, settings }) {
  const { rows, routing } = overhead;
  const drawn = rows.map(({ name, gap, backToBack }) => [
    `print(1): ${name}`,
    figure(gap.median, ' ms'),
    figure(gap.p99, ' ms'),
    figure(backToBack.median, ' ms'),
  ]);
  return `${table(['', 'median', 'p99', 'back to back'], drawn)}

A front end, a NATS server and a worker, all on this machine, against the library, in ${settings.rounds} interleaved rounds of one process; a gap
of ${settings.gapMs} ms between calls, as agents call. The cluster adds ${figure(addedMs({ overhead }), ' ms')}, of which finding a worker takes ${figure(routing.median, ' ms')}.`;
}
