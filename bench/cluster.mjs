// `node bench/cluster.mjs [--quick]`: a cluster on this machine, compared with no cluster, and simulated with 200 workers.

import { writeClusterCharts } from './cluster/charts.mjs';
import { describeOverhead, measureOverhead, OVERHEAD_TARGETS } from './cluster/overhead.mjs';
import { describeRouting, measureRouting, ROUTING_TARGETS } from './cluster/routing.mjs';
import { describeSimulation, measureSimulation, SIMULATION_TARGETS } from './cluster/simulation.mjs';
import { describeThroughput, measureThroughput, THROUGHPUT_TARGETS } from './cluster/throughput.mjs';
import { closeWorlds } from './cluster/world.mjs';
import { makeFolder } from './folder.mjs';
import { describeMachine, isBusy } from './machine.mjs';
import { findPython, interpreterFacts } from './python.mjs';
import { writeResults } from './report/file.mjs';
import { targetTable } from './report/results.mjs';
import { settingsFor } from './settings.mjs';
import { judge } from './targets.mjs';

const PARTS = [
  {
    id: 'overhead',
    title: 'What the cluster adds to a run',
    measure: measureOverhead,
    describe: describeOverhead,
    targets: OVERHEAD_TARGETS,
  },
  {
    id: 'throughput',
    title: 'A second worker',
    measure: measureThroughput,
    describe: describeThroughput,
    targets: THROUGHPUT_TARGETS,
  },
  {
    id: 'routing',
    title: 'Warm environments',
    measure: measureRouting,
    describe: describeRouting,
    targets: ROUTING_TARGETS,
  },
  {
    id: 'simulation',
    title: '200 workers, simulated',
    measure: measureSimulation,
    describe: describeSimulation,
    targets: SIMULATION_TARGETS,
  },
];

/** A part that takes longer is given up: the whole bench ends within eight minutes. */
const PART_MS = 115_000;

const given = process.argv.slice(2).filter((argument) => argument !== '--quick');
const unknown = given.filter((argument) => !PARTS.some(({ id }) => id === argument));
if (unknown.length > 0) {
  const names = PARTS.map(({ id }) => id).join(', ');
  console.error(`Unknown: ${unknown.join(' ')}. It knows --quick and the names of its parts: ${names}.`);
  process.exit(2);
}
const settings = settingsFor(process.argv.includes('--quick'));
const say = (line) => console.error(line);

// The bench does not touch the user's environments, caches and audit trail.
for (const [variable, name] of [
  ['PUNGI_DATA_DIR', 'data'],
  ['XDG_STATE_HOME', 'state'],
  ['XDG_CACHE_HOME', 'cache'],
])
  process.env[variable] = makeFolder(name);

const found = await findPython();
const machine = describeMachine(found);
if (isBusy())
  say(`The machine is busy (load ${machine['Load before']}): the figures will be worse than they should be.`);
const facts = interpreterFacts(found.python, found.tier);

async function within(ms, measuring) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took more than ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([measuring, late]);
  } finally {
    clearTimeout(timer);
  }
}

const results = { settings };
const sections = [];
const parts = PARTS.filter(({ id }) => given.length === 0 || given.includes(id));
for (const { id, title, measure, describe } of parts) {
  say(`${title} …`);
  try {
    results[id] = await within(PART_MS, measure(facts, settings, say));
    sections.push(`## ${title}\n\n${describe(results)}`);
  } catch (error) {
    say(error.stack);
    await closeWorlds();
    sections.push(`## ${title}\n\nNot measured: ${error.message.split('\n')[0]}`);
  }
}
const verdicts = judge(
  results,
  parts.flatMap(({ targets }) => targets),
);
const text = [targetTable(verdicts), ...sections].join('\n\n');
console.log(text);
// The short form only shows that the bench works; its figures are not kept.
if (settings.isQuick || given.length > 0) say('\nThis form does not change bench/CLUSTER.md.');
else {
  const { pandas: _, ...facts } = machine;
  const charts = writeClusterCharts(results);
  writeResults(facts, `${charts}\n\n${text}`, {
    file: 'CLUSTER.md',
    title: 'Results of a cluster',
    command: 'node bench/cluster.mjs',
  });
}
process.exit(parts.every(({ id }) => results[id]) ? 0 : 1);
