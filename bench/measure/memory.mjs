// Measures the private memory of a parked worker, as the kernel counts it.
import { readdirSync, readFileSync } from 'node:fs';
import { startPungi } from '../contenders/library.mjs';
import { serverSettings } from '../contenders/server-settings.mjs';
import { median } from '../statistics.mjs';

const FEW = 2;
const MANY = 8;

/**
 * Returns the private memory of worker and supervisor, and what each further parked worker adds in total, with shared
 * pages counted once. In MB; undefined if the kernel does not report it.
 */
export async function measureMemory(workload) {
  if (process.platform !== 'linux') return undefined;
  try {
    const few = await look(workload, FEW);
    const many = await look(workload, MANY);
    return { ...many, added: (many.whole - few.whole) / (MANY - FEW) };
  } catch (error) {
    if (error.code !== 'EACCES') throw error;
    return undefined;
  }
}

async function look(workload, poolSize) {
  const before = new Set(descendantsOf(process.pid));
  const pungi = await startPungi({ ...serverSettings(workload), POOL_SIZE: `${poolSize}` });
  try {
    const tree = descendantsOf(process.pid).filter((pid) => !before.has(pid));
    const sizes = new Map(tree.map((pid) => [pid, memoryOf(pid)]));
    // A process without children is a worker; the parent of a worker is its supervisor.
    const workers = tree.filter((pid) => sizes.get(pid) && childrenOf(pid).length === 0);
    const supervisors = tree.filter((pid) => childrenOf(pid).some((child) => workers.includes(child)));
    return {
      worker: median(workers.map((pid) => sizes.get(pid).own)),
      supervisor: median(supervisors.map((pid) => sizes.get(pid).own)),
      whole: [...sizes.values()].reduce((sum, size) => sum + (size?.share ?? 0), 0),
    };
  } finally {
    await pungi.close();
  }
}

/** Returns undefined for a process that has ended. */
function memoryOf(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const megabytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024;
  const own = megabytes('Private_Dirty') + megabytes('Private_Clean');
  return Number.isNaN(own) ? undefined : { own, share: megabytes('Pss') };
}

export function descendantsOf(pid) {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

export function childrenOf(pid) {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    return tasks.flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return []; // it has ended
  }
}
