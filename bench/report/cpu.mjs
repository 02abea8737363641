// Formats CPU time by part, and what follows from it for machines with more cores.
import { figure, table } from './table.mjs';

const PARTS = {
  node: 'Node (all runs of a server share one event loop)',
  supervisors: 'supervisors (one for each parked worker)',
  workers: 'workers (one for each run)',
  rest: 'fork server, guard and keepers (one set for each environment)',
};

export function describeCpu({ cpu }) {
  if (cpu === undefined) return 'Not measured: only Linux counts it by process.';
  const rows = Object.entries(PARTS).map(([name, title]) => {
    const { user, system, faults } = cpu.parts[name];
    return [title, figure(user + system, ' ms'), figure(user, ' ms'), figure(system, ' ms'), figure(faults)];
  });
  const sum = (unit) => Object.values(cpu.parts).reduce((total, part) => total + part[unit], 0);
  rows.push([
    'all',
    figure(cpu.cpuMs, ' ms'),
    figure(sum('user'), ' ms'),
    figure(sum('system'), ' ms'),
    figure(sum('faults')),
  ]);
  return `${table(['per run', 'CPU', 'user', 'kernel', 'page faults'], rows)}

${figure(cpu.perCore)} runs for each second of one core; ${figure(cpu.rate)} a second here, on ${cpu.cores} cores.

${model(cpu)}`;
}

/** Each shared process serves one run at a time, so the first one that a core cannot serve any more sets the rate. */
function model({ parts, cpuMs }) {
  const costOf = (name) => parts[name].user + parts[name].system;
  const shared = ['node', 'rest'].map((name) => ({ name, cost: costOf(name), most: 1000 / costOf(name) }));
  const [first] = shared.toSorted((a, b) => a.most - b.most);
  const cores = (first.most * cpuMs) / 1000;
  const rows = [2, 4, 8, 16, 32].map((count) => {
    const rate = Math.min((count * 1000) / cpuMs, first.most);
    return [
      `${count} cores`,
      figure(rate, '/s'),
      rate < first.most ? 'every core' : PARTS[first.name].split(' (')[0],
    ];
  });
  return `### More cores: what the figures above predict

Supervisors and workers are processes of their own and use every core. Shared are Node's event loop (${figure(shared[0].cost, ' ms')} of
each run, so at most ${figure(shared[0].most)} runs a second in one server) and the fork server of an environment (${figure(shared[1].cost, ' ms')},
${shared[1].cost > 0 ? `at most ${figure(shared[1].most)}` : 'too little to be counted'}). The first of them is full at about ${figure(cores)} cores; a second server, or a second environment, lifts it.
The audit trail, which is off here, adds to Node's share: a line in a journal for each run, and a transaction every half of a second.
This is a calculation from the shares above, not a measurement on such a machine.

${table(['', 'runs', 'what is full first'], rows)}`;
}
