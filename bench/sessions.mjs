// Measures sessions beside a Jupyter kernel that is driven by jupyter_client, and the first picture of matplotlib beside plain Python.
// `node bench/sessions.mjs [PYTHON]` measures these rows alone.
import { spawn } from 'node:child_process';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loadConfig, Pungi } from '../dist/pungi/src/index.js';
import { serverSettings } from './contenders/server-settings.mjs';
import { outputOf } from './contenders/spawned.mjs';
import { ensureEnvironment, ensurePackage, findPython } from './python.mjs';
import { figure, table } from './report/table.mjs';
import { settingsFor } from './settings.mjs';
import { median } from './statistics.mjs';

const KERNEL_DRIVER = fileURLToPath(new URL('./contenders/jupyter_kernel_driver.py', import.meta.url));
const CALL = 'x = x + 1 if "x" in globals() else 0\nprint(x)';
const PLOT = 'import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\n';
const PLAIN_PLOT = `import io, matplotlib\nmatplotlib.use("agg")\n${PLOT}plt.savefig(io.BytesIO(), format="png")`;
const FRAME =
  'import numpy, pandas\nframe = pandas.DataFrame(numpy.ones((13_107, 1000)))\nframe.size * 8 >> 20';
const GAP_MS = 5;

/** Medians in ms; undefined where Jupyter or matplotlib is missing. */
export async function measureSessions({ python, tier }, { isQuick }, say = () => {}) {
  say('sessions …');
  const rounds = isQuick ? 5 : 15;
  const calls = isQuick ? 40 : 200;
  const kernel = await kernelTimes(python, isQuick ? 2 : 5, calls);
  const preload = ensurePackage(python, 'matplotlib') ? ['matplotlib.pyplot'] : [];
  const pungi = Pungi.start(loadConfig({ env: serverSettings({ python, tier, preload }) }));
  try {
    await pungi.ready();
    const starts = [];
    for (let round = 0; round < rounds; round += 1) {
      const { took, outcome } = await timed(pungi, { code: 'None', session: 'new' });
      starts.push(took);
      pungi.endSession(outcome.session.id);
      await sleep(100);
    }
    return {
      startMs: median(starts),
      callMs: await callMs(pungi, calls),
      kernel,
      plot: preload.length > 0 ? await plotMs(pungi, python, rounds) : undefined,
      checkpointMs: await checkpointMs(pungi, rounds),
    };
  } finally {
    await pungi.close();
  }
}

async function timed(pungi, request) {
  const began = performance.now();
  const outcome = await pungi.run(request);
  const took = performance.now() - began;
  if (outcome.verdict.kind !== 'ok') throw new Error(JSON.stringify(outcome.verdict));
  return { took, outcome };
}

async function callMs(pungi, calls) {
  const { session } = await pungi.run({ code: CALL, session: 'new' });
  const took = [];
  for (let call = 0; call < calls; call += 1) {
    const { took: one, outcome } = await timed(pungi, { code: CALL, session: session.id });
    if (outcome.stdout.text !== `${call + 1}\n`)
      throw new Error(`expected ${call + 1}, got ${outcome.stdout.text}`);
    took.push(one);
    await sleep(GAP_MS);
  }
  pungi.endSession(session.id);
  return median(took);
}

async function plotMs(pungi, python, rounds) {
  const samples = { pungi: [], plain: [] };
  for (let round = 0; round < rounds; round += 1) {
    const { took, outcome } = await timed(pungi, { code: `${PLOT}plt.show()` });
    if (outcome.displays?.[0]?.data['image/png'] === undefined) throw new Error('no picture');
    samples.pungi.push(took);
    const began = performance.now();
    await outputOf(python, ['-I', '-c', PLAIN_PLOT]);
    samples.plain.push(performance.now() - began);
    await sleep(100);
  }
  return { pungiMs: median(samples.pungi), plainMs: median(samples.plain) };
}

/** A checkpoint of a session that holds a frame of 100 MB, and a restore of it. */
async function checkpointMs(pungi, rounds) {
  const limits = { memoryMb: 512 };
  const { session, value, verdict } = await pungi.run({ code: FRAME, session: 'new', limits });
  if (!(value?.json >= 99)) throw new Error(`no frame: ${JSON.stringify(verdict)}`);
  const took = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    const { checkpoint } = await pungi.checkpoint(session.id);
    await pungi.restore(session.id, checkpoint);
    took.push(performance.now() - began);
    await timed(pungi, { code: 'frame.size', session: session.id });
  }
  pungi.endSession(session.id);
  return median(took);
}

/** Times of a kernel, measured by the program that drives it; undefined without Jupyter. */
async function kernelTimes(python, starts, calls) {
  if (!ensurePackage(python, 'ipykernel', 'jupyter_client')) return undefined;
  const driver = spawn(python, ['-I', KERNEL_DRIVER, `${starts}`, `${calls}`, CALL], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const times = await json(driver.stdout);
  return { startMs: median(times.starts), callMs: median(times.calls) };
}

const ratio = (of, to) => (of !== undefined && to !== undefined ? of / to : undefined);

export const SESSION_TARGETS = [
  {
    about: 'a call in a session, to one in a warm Jupyter kernel',
    atMost: 0.3,
    unit: '×',
    measure: ({ sessions }) => ratio(sessions.callMs, sessions.kernel?.callMs),
  },
  {
    about: 'the start of a session, to that of a Jupyter kernel',
    atMost: 0.02,
    unit: '×',
    measure: ({ sessions }) => ratio(sessions.startMs, sessions.kernel?.startMs),
  },
  {
    about: 'the first picture of matplotlib, to `python -c`',
    atMost: 0.15,
    unit: '×',
    measure: ({ sessions }) => ratio(sessions.plot?.pungiMs, sessions.plot?.plainMs),
  },
  {
    about: 'checkpoint and restore with a frame of 100 MB',
    atMost: 20,
    unit: ' ms',
    measure: ({ sessions }) => sessions.checkpointMs,
  },
];

export const describeSessions = ({ sessions: { startMs, callMs, kernel, plot, checkpointMs } }) =>
  table(
    ['', 'Pungi', 'beside', '×'],
    [
      [
        'start of a session; of a Jupyter kernel',
        figure(startMs, ' ms'),
        figure(kernel?.startMs, ' ms'),
        figure(ratio(startMs, kernel?.startMs), '×'),
      ],
      [
        'a call in it; in a warm Jupyter kernel',
        figure(callMs, ' ms'),
        figure(kernel?.callMs, ' ms'),
        figure(ratio(callMs, kernel?.callMs), '×'),
      ],
      [
        'the first picture of matplotlib, preloaded; `python -c`',
        figure(plot?.pungiMs, ' ms'),
        figure(plot?.plainMs, ' ms'),
        figure(ratio(plot?.pungiMs, plot?.plainMs), '×'),
      ],
      ['checkpoint and restore with a frame of 100 MB', figure(checkpointMs, ' ms'), '', ''],
    ],
  );

if (import.meta.url === `file://${process.argv[1]}`) {
  const found = await findPython();
  const [given] = process.argv.slice(2).filter((argument) => argument !== '--quick');
  const python = given ?? ensureEnvironment(found) ?? found.python;
  const settings = settingsFor(process.argv.includes('--quick'));
  const sessions = await measureSessions({ ...found, python }, settings, (line) => console.error(line));
  console.log(describeSessions({ sessions }));
}
