// Counts the runs that go to a worker which has their environment, in a skewed mix over several environments and workers.
import { figure, table } from '../report/table.mjs';
import { World } from './world.mjs';

const WORKERS = 3;
const SLOTS = 2;
const AT_ONCE = 4;
/** Small packages without dependencies, and their share of the runs in percent. */
const MIX = [
  { venvName: 'often', packages: ['six'], module: 'six', share: 60 },
  { venvName: 'sometimes', packages: ['idna'], module: 'idna', share: 25 },
  { venvName: 'seldom', packages: ['toml'], module: 'toml', share: 10 },
  { venvName: 'rarely', packages: ['colorama'], module: 'colorama', share: 5 },
];
const FULL = 600;
const QUICK = 100;

/** Returns how many runs were routed to a worker that had their environment when they were offered. */
export async function measureRouting(facts, { isQuick }) {
  const runs = isQuick ? QUICK : FULL;
  const world = await World.open(facts);
  try {
    const names = Array.from({ length: WORKERS }, (_, index) => `worker-${index + 1}`);
    await Promise.all(names.map((name) => world.worker(name, { slots: SLOTS })));
    const { pungi, backend } = await world.front(WORKERS);
    for (const { venvName, packages } of MIX) await pungi.environments.create({ venvName, packages });
    const seen = watchClaims(backend);
    const plan = shuffled(runs);
    const half = plan.splice(0, runs / 2);
    await follow(pungi, half);
    // A change makes every copy of the environment that is used most an old one.
    await pungi.environments.install(MIX[0].venvName, ['toml']);
    await follow(pungi, plan);
    const trails = names.map((name) => world.trail(name));
    const count = (trail, event) => trail.filter((line) => line.event === event).length;
    return {
      runs,
      ...seen,
      builds: trails.reduce((sum, trail) => sum + count(trail, 'built'), 0),
      started: trails.map((trail) => count(trail, 'started')),
    };
  } finally {
    await world.close();
  }
}

/** Compares the worker of each run with the heartbeats that the front end had heard before. */
function watchClaims(backend) {
  const seen = { warm: 0, cold: 0 };
  const acquire = backend.acquire.bind(backend);
  backend.acquire = async (spec, ...rest) => {
    const before = backend.workers;
    const worker = await acquire(spec, ...rest);
    if (spec.ref) {
      const holder = before.find((one) => one.worker === worker.claim.worker);
      if (holder?.generations.includes(spec.ref.generation)) seen.warm += 1;
      else seen.cold += 1;
    }
    return worker;
  };
  return seen;
}

/** The mix in an order that looks random and is always the same. */
function shuffled(runs) {
  const plan = MIX.flatMap((one) => Array(Math.round((runs * one.share) / 100)).fill(one));
  let state = 1;
  for (let index = plan.length - 1; index > 0; index -= 1) {
    state = (state * 48_271) % 2_147_483_647;
    const other = state % (index + 1);
    [plan[index], plan[other]] = [plan[other], plan[index]];
  }
  return plan;
}

async function follow(pungi, plan) {
  const left = [...plan];
  const lane = async () => {
    for (let next = left.pop(); next; next = left.pop()) {
      const { venvName, module } = next;
      const { verdict } = await pungi.run({ code: `import ${module}`, venvName });
      if (verdict.kind !== 'ok') throw new Error(`a run ended as ${verdict.kind}: ${verdict.message}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

const shareOf = ({ warm, cold }) => (100 * warm) / (warm + cold);

export const ROUTING_TARGETS = [
  {
    about: 'runs that went to a worker which had their environment',
    atLeast: 95,
    unit: ' %',
    measure: ({ routing }) => routing && shareOf(routing),
  },
];

export function describeRouting({ routing }) {
  const { runs, warm, cold, builds, started } = routing;
  const rows = [
    ['runs', `${runs}`],
    ['… to a worker that had the environment', `${warm} (${figure(shareOf(routing), ' %')})`],
    ['… to another one, which had to build it', `${cold}`],
    ['environments built for a run, by the trails of the workers', `${builds}`],
    ['runs of each worker, by their trails', started.join(', ')],
  ];
  const mix = MIX.map(({ venvName, share }) => `${share} % "${venvName}"`).join(', ');
  return `${table(['', 'count'], rows)}

${MIX.length} environments, ${WORKERS} workers with ${SLOTS} slots, ${AT_ONCE} runs at once: ${mix}. After half of the runs the first environment is changed, so
that every copy of it is an old one. What counts is the heartbeat that the front end had heard of the worker before it offered the run.`;
}
