import type { Lease } from '../sandbox/spawn.js';

/** Where code runs: the interpreter of one generation of an environment, and what runs may read beside it. */
export interface EnvironmentRef {
  environment: string;
  /** A changed environment is a new generation; workers of the one before are not given another run. */
  generation: string;
  python: string;
  roots: string[];
  /** What the guard of the fork server locks; none for an interpreter that is no environment. */
  lease?: Lease;
  /** An interpreter whose own packages runs do not see. */
  isBare?: boolean;
}

/** What a profile adds to the workers of an environment: they are parked with it, so each has a pool of its own. */
export interface PoolSpec {
  /** Modules imported once, where they are installed. */
  preload: readonly string[];
  /** Folders that runs can read, as data/NAME in their work folder. */
  data: readonly { name: string; path: string }[];
  /** Hosts that HTTP and HTTPS may reach; no network if empty. */
  allowedHosts: readonly string[];
  /** For runs that may use more memory or disk than runs usually do. */
  isRaised?: boolean;
}

/** Workers as they are without a profile. */
export const PLAIN: PoolSpec = { preload: [], data: [], allowedHosts: [] };

/** The same for pool specs that make the same workers. */
export function poolSpecKey({ preload, data, allowedHosts, isRaised = false }: PoolSpec): string {
  const folders = data.map(({ name, path }) => [name, path]);
  const hosts = [...new Set(allowedHosts)].sort();
  return JSON.stringify([[...new Set(preload)].sort(), folders.sort(), hosts, isRaised]);
}

export const isPlain = (poolSpec: PoolSpec): boolean => poolSpecKey(poolSpec) === poolSpecKey(PLAIN);
