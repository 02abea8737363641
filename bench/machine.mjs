// Describes the machine, without which the figures mean nothing.
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';

const COUNT_STARTUP_FILES =
  'import glob, site; print(sum(len(glob.glob(f"{path}/*.pth")) for path in site.getsitepackages()))';

export function describeMachine({ python, tier, pandasPython }) {
  const [cpu] = cpus();
  return {
    CPU: `${cpu?.model.trim() ?? 'unknown'}, ${cpus().length} cores`,
    Memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
    Kernel: `${process.platform} ${release()} ${process.arch}`,
    Node: process.version,
    Python: ask(python, 'import platform; print(platform.python_version())'),
    'Start-up files (.pth)': ask(python, COUNT_STARTUP_FILES),
    pandas: pandasPython ? ask(pandasPython, 'import pandas; print(pandas.__version__)') : 'not there',
    'Isolation of Pungi': `${tier} tier`,
    'Load before': loadavg()[0].toFixed(1),
  };
}

/** Other work on the machine makes every figure worse, and not all of them alike. */
export const isBusy = () => loadavg()[0] > cpus().length / 2;

const ask = (python, code) => execFileSync(python, ['-I', '-c', code], { encoding: 'utf8' }).trim();
