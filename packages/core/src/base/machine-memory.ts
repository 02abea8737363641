import { totalmem } from 'node:os';

const MB = 1024 * 1024;

/** Returns the memory of this machine, or of its container or cgroup if that is less. */
export function machineMemoryMb(): number {
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(totalmem(), constrained) / MB);
}
