// The interpreters of the bench: the one that Pungi finds, and an environment with pandas and Jupyter.
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig, Pungi } from '../dist/pungi/src/index.js';
import { KEPT } from './folder.mjs';

/** Returns interpreter and tier as a user gets them, including PUNGI_PYTHON and PUNGI_TIER. */
export async function findPython() {
  const pungi = Pungi.start(loadConfig({ env: { ...process.env, AUDIT: 'false' } }));
  try {
    const { interpreter, tier } = await pungi.state();
    return { python: interpreter.path, version: interpreter.version, tier };
  } finally {
    await pungi.close();
  }
}

/**
 * Returns an interpreter with pandas, created once and kept; prints why and returns undefined if that is impossible.
 */
export function ensureEnvironment({ python, version }) {
  const folder = join(KEPT, version);
  const own = join(folder, 'bin', 'python');
  if (imports(own, 'pandas')) return own;
  console.error(`Installing pandas and a Jupyter kernel in ${folder}, once …`);
  try {
    rmSync(folder, { recursive: true, force: true });
    execFileSync(python, ['-m', 'venv', folder], { stdio: ['ignore', 2, 2] });
    pip(own, 'install', 'pandas');
  } catch (error) {
    console.error(`pandas cannot be installed, its rows are left out: ${error.message.split('\n')[0]}`);
    return undefined;
  }
  try {
    pip(own, 'install', 'ipykernel', 'jupyter_client');
    // It contains a .pth file that runs at every start of the interpreter, which would make the bare spawn slower.
    pip(own, 'uninstall', '--yes', 'setuptools');
  } catch {
    // The row reports it.
  }
  return own;
}

/** Whether the modules can be imported; installs them once if the interpreter is the bench's own. */
export function ensurePackage(python, ...modules) {
  const areThere = () => modules.every((module) => imports(python, module));
  if (areThere()) return true;
  if (!python.startsWith(KEPT)) return false;
  console.error(`Installing ${modules.join(' and ')}, once …`);
  try {
    pip(python, 'install', ...modules);
  } catch (error) {
    console.error(`It cannot be installed, its rows are left out: ${error.message.split('\n')[0]}`);
  }
  return areThere();
}

const prefixesOf = (python) =>
  JSON.parse(say(python, 'import json, sys; print(json.dumps([sys.base_prefix, sys.prefix]))'));

/** The facts that contenders need besides the code of a workload. */
export const interpreterFacts = (python, tier) => ({
  python,
  tier,
  prefixes: [...new Set(prefixesOf(python))],
});

function imports(python, module) {
  if (!existsSync(python)) return false;
  try {
    say(python, `import ${module}`);
    return true;
  } catch {
    return false;
  }
}

const say = (python, code) =>
  execFileSync(python, ['-I', '-c', code], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

function pip(python, command, ...args) {
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
  const wheels = command === 'install' ? ['--only-binary=:all:'] : [];
  execFileSync(python, ['-I', '-m', 'pip', command, ...quiet, ...wheels, ...args], {
    stdio: ['ignore', 2, 2],
    timeout: 300_000,
  });
}
