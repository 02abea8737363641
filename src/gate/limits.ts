import type { Config } from '../config/schema.js';
import type { Limits, RequestedLimits } from '../contract/limits.js';

/** The server's own limits, as configured. */
export function limitsOf(config: Config): Limits {
  return {
    timeoutMs: config.executionTimeoutMs,
    cpuMs: config.maxCpuMs,
    memoryMb: config.maxMemoryMb,
    processes: config.maxProcesses,
    openFiles: config.maxOpenFiles,
    diskMb: config.maxDiskMb,
    outputBytes: config.maxOutputBytes,
    outputHardBytes: config.maxOutputHardBytes,
  };
}

/** A profile, and then a request, can only go below the ceiling. */
export function tighten(ceiling: Limits, wanted: RequestedLimits = {}): Limits {
  const limits = { ...ceiling };
  for (const name of Object.keys(wanted) as (keyof Limits)[]) {
    const value = wanted[name];
    if (value !== undefined) limits[name] = Math.min(ceiling[name], value);
  }
  return limits;
}
