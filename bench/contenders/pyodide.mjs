// Python compiled to WebAssembly, from npm, in a worker thread, so that endless code can be terminated.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { installed } from '../../scripts/dependencies.mjs';
import { Unavailable } from '../unavailable.mjs';

const BENCH = dirname(dirname(fileURLToPath(import.meta.url)));
const THREAD = new URL('./pyodide-thread.mjs', import.meta.url);
const NO_PANDAS = 'not compared: the npm package has no pandas, which its users load from a CDN';

export const pyodideFresh = {
  id: 'pyodide-fresh',
  name: 'Pyodide, fresh interpreter',
  isSlow: true,
  async open({ code, preload }) {
    install(preload);
    return {
      async run() {
        const thread = new Worker(THREAD);
        try {
          return await ask(thread, code);
        } finally {
          await thread.terminate();
        }
      },
      close() {},
    };
  },
};

export const pyodideReused = {
  id: 'pyodide-reused',
  name: 'Pyodide, one interpreter for all',
  async open({ code, preload }) {
    install(preload);
    const thread = new Worker(THREAD);
    return { run: () => ask(thread, code), close: () => thread.terminate() };
  },
};

function ask(thread, code) {
  return new Promise((resolve, reject) => {
    thread.once('error', reject);
    thread.once('message', ({ stdout, problem }) => {
      thread.off('error', reject);
      if (problem === undefined) resolve(stdout);
      else reject(new Error(problem));
    });
    thread.postMessage(code);
  });
}

function install(preload) {
  if (preload.length > 0) throw new Unavailable(NO_PANDAS);
  if (installed(BENCH)) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: BENCH, stdio: ['ignore', 2, 2], timeout: 120_000 });
  if (status !== 0 || !existsSync(`${BENCH}/node_modules/pyodide`)) {
    throw new Unavailable('could not be installed: `npm ci` in bench/ did not succeed');
  }
}
