// Measures `pungi run -c pass` beside `python3 -c pass` and beside Node's own start, alone and while a server runs.
// `node bench/command-line.mjs` measures these rows alone.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MAIN, mcpModern } from './contenders/mcp.mjs';
import { serverSettings } from './contenders/server-settings.mjs';
import { findPython, interpreterFacts } from './python.mjs';
import { figure, table } from './report/table.mjs';
import { settingsFor } from './settings.mjs';
import { median } from './statistics.mjs';
import { PRINT } from './workloads.mjs';

const start = promisify(execFile);
const ROWS = {
  python: '`python3 -c pass`',
  node: '`node -e 0`',
  pungi: '`pungi run -c pass`',
  beside: '… while a server of the same user and settings runs',
};

/** Medians in ms. */
export async function measureCommandLine(facts, { spawns }, say = () => {}) {
  say('pungi run …');
  const settings = serverSettings({ ...facts, preload: [] });
  // Certificates that a machine adds to Node's own are read at every start of Node, whatever it runs.
  const { NODE_EXTRA_CA_CERTS: _, ...own } = process.env;
  const env = { ...own, ...settings };
  const time = async (program, ...args) => {
    const began = performance.now();
    await start(program, args, { env });
    return performance.now() - began;
  };
  const samples = { python: [], node: [], pungi: [], beside: [] };
  for (let round = 0; round <= spawns; round += 1) {
    const python = await time(facts.python, '-c', 'pass');
    const node = await time(process.execPath, '-e', '0');
    const pungi = await time(process.execPath, MAIN, 'run', '-c', 'pass');
    // The first round only fills the file cache.
    if (round === 0) continue;
    samples.python.push(python);
    samples.node.push(node);
    samples.pungi.push(pungi);
  }
  const server = await mcpModern.open({ ...PRINT, ...facts, env: settings });
  try {
    await server.run();
    for (let round = 0; round < spawns; round += 1) {
      samples.python.push(await time(facts.python, '-c', 'pass'));
      samples.beside.push(await time(process.execPath, MAIN, 'run', '-c', 'pass'));
    }
  } finally {
    await server.close();
  }
  return Object.fromEntries(Object.entries(samples).map(([name, measured]) => [name, median(measured)]));
}

const ratio =
  (name) =>
  ({ commandLine }) =>
    commandLine && commandLine[name] / commandLine.python;

export const COMMAND_LINE_TARGETS = [
  { about: '`pungi run -c pass`, to `python3 -c pass`', atMost: 6, unit: '×', measure: ratio('pungi') },
  { about: '… while a server runs', atMost: 2, unit: '×', measure: ratio('beside') },
];

export const describeCommandLine = (results) =>
  table(
    ['', 'median', '×'],
    Object.entries(ROWS).map(([name, title]) => [
      title,
      figure(results.commandLine?.[name], ' ms'),
      figure(ratio(name)(results), '×'),
    ]),
  );

if (import.meta.url === `file://${process.argv[1]}`) {
  const { python, tier } = await findPython();
  const settings = settingsFor(process.argv.includes('--quick'));
  const commandLine = await measureCommandLine(interpreterFacts(python, tier), settings, console.error);
  console.log(describeCommandLine({ commandLine }));
  process.exit();
}
