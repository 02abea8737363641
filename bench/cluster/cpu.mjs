// CPU time of processes with everything below them, by the kernel's counters.
import { statOf } from '../measure/cpu.mjs';
import { descendantsOf } from '../measure/memory.mjs';

/** In ms. Children that have ended are counted with those that waited for them. */
export function cpuOf(pid) {
  const spent = [pid, ...descendantsOf(pid)].flatMap((one) => {
    const stat = statOf(one);
    return stat === undefined ? [] : [stat.own, stat.ended];
  });
  return spent.reduce((sum, { user, system }) => sum + user + system, 0);
}

/** Returns what `work` resolves to, how long it took, and the CPU time in ms that each process used meanwhile. */
export async function spending(processes, work) {
  const look = () => Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, ownCpu(pid)]));
  const [before, began] = [look(), performance.now()];
  const result = await work();
  const [after, tookMs] = [look(), performance.now() - began];
  const cpu = Object.fromEntries(Object.keys(after).map((name) => [name, after[name] - before[name]]));
  return { result, tookMs, cpu };
}

/** This process has workers below it that are listed by themselves. */
function ownCpu(pid) {
  if (pid !== process.pid) return cpuOf(pid);
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  return (userCPUTime + systemCPUTime) / 1000;
}
