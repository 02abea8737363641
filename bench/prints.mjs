// Measures 100,000 prints, timed by the script itself, compared with plain Python on a pipe.
// `node bench/prints.mjs [PYTHON]` measures this row alone.
import { spawn } from 'node:child_process';
import { loadConfig, Pungi } from '../dist/pungi/src/index.js';
import { serverSettings } from './contenders/server-settings.mjs';
import { findPython } from './python.mjs';
import { figure, table } from './report/table.mjs';
import { median } from './statistics.mjs';

const LINES = 100_000;
const CODE = `
import sys, time
started = time.perf_counter()
for i in range(${LINES}): print("line", i)
sys.stdout.flush()
print(time.perf_counter() - started, file=sys.stderr)
`;
const BYTES = Array.from({ length: LINES }, (_, i) => `line ${i}\n`.length).reduce(
  (all, one) => all + one,
  0,
);

/** Returns medians in ms of alternating runs. */
export async function measurePrints({ python, tier }, { isQuick }, say = () => {}) {
  say(`${LINES.toLocaleString('en')} prints …`);
  const env = { MAX_OUTPUT_BYTES: `${2 * BYTES}` };
  const pungi = Pungi.start(loadConfig({ env: serverSettings({ python, tier, preload: [], env }) }));
  const samples = { pungi: [], plain: [] };
  try {
    await pungi.ready();
    for (let round = 0; round < (isQuick ? 5 : 31); round += 1) {
      const { stdout, stderr } = await pungi.run({ code: CODE });
      samples.pungi.push(timeOf(stdout.text.length, stderr.text));
      samples.plain.push(await plain(python));
    }
    return { pungiMs: median(samples.pungi), plainMs: median(samples.plain) };
  } finally {
    await pungi.close();
  }
}

function plain(python) {
  const { PYTHONUNBUFFERED: _, ...env } = process.env;
  const child = spawn(python, ['-I', '-c', CODE], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let bytes = 0;
  let stderr = '';
  child.stdout.on('data', (data) => {
    bytes += data.length;
  });
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(timeOf(bytes, stderr)));
  });
}

function timeOf(bytes, stderr) {
  if (bytes !== BYTES) throw new Error(`expected ${BYTES} bytes, got ${bytes}: ${stderr}`);
  return Number(stderr) * 1000;
}

export const PRINT_TARGETS = [
  {
    about: `${LINES.toLocaleString('en')} prints, to plain Python on a pipe`,
    atMost: 1.3,
    unit: '×',
    measure: ({ prints }) => prints.pungiMs / prints.plainMs,
  },
];

export const describePrints = ({ prints: { pungiMs, plainMs } }) =>
  table(
    [`${LINES.toLocaleString('en')} prints`, 'median', '×'],
    [
      ['plain Python on a pipe', figure(plainMs, ' ms'), '1.00×'],
      ['Pungi, library', figure(pungiMs, ' ms'), figure(pungiMs / plainMs, '×')],
    ],
  );

if (import.meta.url === `file://${process.argv[1]}`) {
  const found = await findPython();
  const prints = await measurePrints(
    { ...found, python: process.argv[2] ?? found.python },
    { isQuick: false },
  );
  console.log(describePrints({ prints }));
}
