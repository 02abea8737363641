import type { Lease } from '../sandbox/spawn.js';

/** The interpreter of one generation of an environment, and the folders that runs may read besides it. */
export interface EnvironmentRef {
  environment: string;
  /** A changed environment is a new generation; workers of the previous one get no further run. */
  generation: string;
  python: string;
  roots: string[];
  /** The file that the guard of the fork server locks; none for a plain interpreter. */
  lease?: Lease;
  /** Runs do not see the interpreter's own packages. */
  isBare?: boolean;
}

/**
 * What a profile adds to the workers of an environment. Workers are parked with it, so each spec has its own pool.
 */
export interface PoolSpec {
  /** Modules imported once, if they are installed. */
  preload: readonly string[];
  /** Folders that runs can read, as data/NAME in their work folder; those of scripts (`isOfScripts`) are not shown there. */
  data: readonly { name: string; path: string }[];
  /** Hosts that HTTP and HTTPS may reach; no network if empty. */
  allowedHosts: readonly string[];
  /** For runs that may use more memory or disk than the default. */
  isRaised?: boolean;
}

/** Names of folders with scripts begin with a dot. Runs do without those that cannot be shown. */
export const isOfScripts = ({ name }: { name: string }): boolean => name.startsWith('.');

/** Workers without a profile. */
export const PLAIN: PoolSpec = { preload: [], data: [], allowedHosts: [] };

/** Returns the same key for specs that need the same workers. */
export function poolSpecKey(poolSpec: PoolSpec): string {
  if (poolSpec === PLAIN) return PLAIN_KEY;
  const { preload, data, allowedHosts, isRaised = false } = poolSpec;
  const folders = data.map(({ name, path }) => [name, path]);
  const hosts = [...new Set(allowedHosts)].sort();
  return JSON.stringify([[...new Set(preload)].sort(), folders.sort(), hosts, isRaised]);
}

/** Every run without a profile looks it up. */
const PLAIN_KEY = poolSpecKey({ ...PLAIN });

export const isPlain = (poolSpec: PoolSpec): boolean => poolSpecKey(poolSpec) === PLAIN_KEY;
