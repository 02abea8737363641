// Measures the CPU time and page faults of a run, by part: the server's process, supervisors, workers, and everything else that
// Pungi starts. The figures are the kernel's own counters, so other load on the machine hardly matters.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { startPungi } from '../contenders/library.mjs';
import { serverSettings } from '../contenders/server-settings.mjs';
import { childrenOf, descendantsOf } from './memory.mjs';

const TICKS_PER_SECOND = 100;
const WARM_UP_RUNS = 200;

/** Returns CPU time in ms and page faults of one run, by part, and runs per second of CPU; undefined elsewhere than on Linux. */
export async function measureCpu(workload, { concurrency, cpuRuns }) {
  if (process.platform !== 'linux') return undefined;
  const size = `${concurrency}`;
  const settings = {
    ...serverSettings(workload),
    AUDIT: 'false',
    MAX_CONCURRENT_EXECUTIONS: size,
    POOL_SIZE: size,
  };
  const before = new Set(descendantsOf(process.pid));
  const pungi = await startPungi(settings);
  const ours = () => descendantsOf(process.pid).filter((pid) => !before.has(pid));
  try {
    await runMany(pungi, workload.code, WARM_UP_RUNS, concurrency);
    const [start, began] = [usageOf(ours()), performance.now()];
    await runMany(pungi, workload.code, cpuRuns, concurrency);
    const [end, tookMs] = [usageOf(ours()), performance.now() - began];
    return perRun(start, end, cpuRuns, tookMs);
  } finally {
    await pungi.close();
  }
}

async function runMany(pungi, code, runs, concurrency) {
  let left = runs;
  const worker = async () => {
    while (left-- > 0) {
      const { verdict } = await pungi.run({ code });
      if (verdict.kind !== 'ok') throw new Error(`a run ended as ${verdict.kind}: ${verdict.message}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** Sums by part. A worker that has ended is counted with the supervisor that waited for it. */
function usageOf(pids) {
  const supervisors = new Set(pids.filter((pid) => isSupervisor(pid)));
  const node = process.resourceUsage();
  const parts = {
    node: { user: node.userCPUTime / 1000, system: node.systemCPUTime / 1000, faults: node.minorPageFault },
    supervisors: none(),
    workers: none(),
    rest: none(),
  };
  for (const pid of pids) {
    const stat = statOf(pid);
    if (stat === undefined) continue;
    const isWorker = childrenOf(pid).length === 0 && supervisors.has(stat.parent);
    add(parts[supervisors.has(pid) ? 'supervisors' : isWorker ? 'workers' : 'rest'], stat.own);
    add(parts[supervisors.has(pid) ? 'workers' : 'rest'], stat.ended);
  }
  return parts;
}

const none = () => ({ user: 0, system: 0, faults: 0 });

function add(sum, { user, system, faults }) {
  sum.user += user;
  sum.system += system;
  sum.faults += faults;
}

/** A supervisor is the first process of its pid namespace. */
function isSupervisor(pid) {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8').match(/^NSpid:.*\t1$/m) !== null;
  } catch {
    return false;
  }
}

/** CPU time in ms and page faults of a process and of its children that have ended; undefined if it has ended itself. */
export function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent] = fields;
    const [faults, endedFaults] = [fields[7], fields[8]];
    const [user, system, endedUser, endedSystem] = fields
      .slice(11, 15)
      .map((ticks) => (ticks * 1000) / TICKS_PER_SECOND);
    return {
      parent,
      own: { user, system, faults },
      ended: { user: endedUser, system: endedSystem, faults: endedFaults },
    };
  } catch {
    return undefined; // it has ended
  }
}

function perRun(start, end, runs, tookMs) {
  const parts = Object.fromEntries(
    Object.entries(end).map(([name, part]) => [
      name,
      Object.fromEntries(
        Object.entries(part).map(([unit, value]) => [unit, (value - start[name][unit]) / runs]),
      ),
    ]),
  );
  const cpuMs = Object.values(parts).reduce((sum, { user, system }) => sum + user + system, 0);
  return { parts, cpuMs, perCore: 1000 / cpuMs, rate: (runs * 1000) / tookMs, cores: availableParallelism() };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const { PRINT } = await import('../workloads.mjs');
  const { ensureEnvironment, findPython, interpreterFacts } = await import('../python.mjs');
  const found = await findPython();
  const workload = { ...PRINT, ...interpreterFacts(ensureEnvironment(found) ?? found.python, found.tier) };
  const { parts, cpuMs, perCore, rate } = await measureCpu(workload, {
    concurrency: 8,
    cpuRuns: Number(process.argv[2] ?? 2000),
  });
  console.table(parts);
  console.log(
    `${cpuMs.toFixed(2)} ms of CPU per run, ${perCore.toFixed(0)} runs per second of a core, ${rate.toFixed(0)}/s here`,
  );
  process.exit();
}
