import { totalmem } from 'node:os';

const MB = 1024 * 1024;

/** The memory of this machine, or of the container or cgroup that we are in, where that is less. */
export function machineMemoryMb(): number {
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(totalmem(), constrained) / MB);
}
