// `npm run bench [-- --quick]`: Pungi beside what one would use instead, in ratios to a bare spawn of the same Python.
import { measureAudit } from './audit.mjs';
import { measureCommandLine } from './command-line.mjs';
import { CONCURRENT, CONTENDERS, SUSTAINED } from './contenders/index.mjs';
import { measureEnvironments } from './environments.mjs';
import { makeFolder } from './folder.mjs';
import { measureHarness } from './harness.mjs';
import { measureLearned } from './learned.mjs';
import { describeMachine, isBusy } from './machine.mjs';
import { measureConcurrency } from './measure/concurrency.mjs';
import { measureCpu } from './measure/cpu.mjs';
import { measureInitialize } from './measure/initialize.mjs';
import { measureLatency } from './measure/latency.mjs';
import { measureMemory } from './measure/memory.mjs';
import { measureSustained } from './measure/sustained.mjs';
import { measurePrints } from './prints.mjs';
import { ensureEnvironment, findPython, interpreterFacts } from './python.mjs';
import { writeCharts } from './report/charts.mjs';
import { writeResults } from './report/file.mjs';
import { describeResults } from './report/results.mjs';
import { measureResponsiveness } from './responsiveness.mjs';
import { measureSessions } from './sessions.mjs';
import { settingsFor } from './settings.mjs';
import { measureStrategic } from './strategic.mjs';
import { judge } from './targets.mjs';
import { PANDAS, PRINT } from './workloads.mjs';
import { measureWrap } from './wrap.mjs';

const unknown = process.argv.slice(2).filter((argument) => argument !== '--quick');
if (unknown.length > 0) {
  console.error(
    `Unknown: ${unknown.join(' ')}. The bench knows --quick, and without it takes about eight minutes.`,
  );
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
const pandasPython = ensureEnvironment(found);
// The environment's interpreter is the same one without the packages' start-up code, which would make the bare
// spawn slower and Pungi look better.
const python = pandasPython ?? found.python;
const machine = describeMachine({ ...found, python, pandasPython });
if (machine['Start-up files (.pth)'] !== '0') {
  say('The interpreter has .pth files that run at every start: the bare spawn is slower for it.');
}
if (isBusy())
  say(`The machine is busy (load ${machine['Load before']}): the figures will be worse than they should be.`);

const workloads = [{ ...PRINT, ...interpreterFacts(python, found.tier) }];
if (pandasPython) workloads.push({ ...PANDAS, ...interpreterFacts(pandasPython, found.tier) });

const results = { settings, workloads: {}, memory: {} };
for (const workload of workloads) {
  say(`${workload.name}: memory …`);
  results.memory[workload.name] = await measureMemory(workload);
  say(`${workload.name}: one after the other …`);
  const rows = await measureLatency(CONTENDERS, workload, settings);
  say(`${workload.name}: ${settings.concurrency} at once …`);
  const rates = await measureSustained(SUSTAINED, workload, settings);
  results.workloads[workload.name] = rows.map((row) => ({ ...row, rate: rates.get(row.id) }));
}
results.concurrency = await measureConcurrency(CONCURRENT, workloads[0], settings, say);
say('print(1): CPU by part …');
results.cpu = await measureCpu(workloads[0], settings);
results.learned = await measureLearned(found, pandasPython, settings, say);
results.commandLine = await measureCommandLine(workloads[0], settings, say);
say('initialize …');
results.initialize = await measureInitialize(workloads[0], settings);
results.audit = await measureAudit(interpreterFacts(python, found.tier), settings, say);
results.prints = await measurePrints({ python, tier: found.tier }, settings, say);
results.sessions = await measureSessions({ python, tier: found.tier }, settings, say);
results.environments = await measureEnvironments(found, settings, say);
results.strategic = await measureStrategic(found, settings, say);
results.wrap = await measureWrap({ python, tier: found.tier }, settings, say);
results.harness = await measureHarness({ python, tier: found.tier }, settings, say);
results.responsiveness = await measureResponsiveness({ python, tier: found.tier }, settings, say);

const text = describeResults(results, judge(results));
console.log(
  `\n${Object.entries(machine)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}\n\n${text}`,
);
// The short form only shows that the bench works; its figures are not kept.
if (settings.isQuick) say('\nThe short form does not change bench/RESULTS.md.');
else writeResults(machine, `${writeCharts(results)}\n\n${text}`);
