import { PungiError } from '../../base/errors.js';
import type { StepOptions } from '../../contract/environment.js';

/** The program that chooses and installs packages. */
export interface Uv {
  version: string;
  path: string;
  origin: 'configured' | 'PATH' | 'interpreter' | 'own';
}

/** A wheel of uv and its hash. */
export interface UvWheel {
  filename: string;
  sha256: string;
}

export interface Pin {
  name: string;
  /** Empty for a URL that does not contain it. */
  version: string;
  /** As `sha256:…`. */
  hashes: string[];
  /** Its URL, if it is not from the index. */
  url?: string;
}

export type PackageSource = 'url' | 'path' | 'sdist';

/** Options of what installs exactly the files that a lock names. */
export interface LockedOptions extends StepOptions {
  /** A folder with wheels. Each is used only if its hash is in the lock. */
  wheels?: string;
}

export interface PackagingOptions extends LockedOptions {
  timeoutMs: number;
  /** What is allowed besides wheels of the index. 'sdist' allows builds. */
  sources: readonly PackageSource[];
}

/** A virtual environment and its interpreter. */
export interface Target {
  python: string;
  venv: string;
}

/** Packages whose versions are to be chosen. */
export interface ResolveRequest {
  /** The interpreter that packages are for. */
  python: string;
  requirements: string[];
  /** These keep their versions if possible. */
  known: readonly Pin[];
}

/** Removes from the cache what an installation added; called if its environment is rejected afterwards. */
export type Forget = () => Promise<void>;

export interface PackagerSettings {
  /** The folder of all environments, which contains caches and Pungi's own tools. */
  base: string;
  /** The interpreter that starts tools. */
  python: string;
  env: NodeJS.ProcessEnv;
  /** The limit for unpacked packages, in MB. */
  maxMb?: number | undefined;
  /** The wheel to fetch if there is no uv; that of this machine by default. */
  uvWheel?: UvWheel | undefined;
  /** Aborted at shutdown: ends background work. */
  closing?: AbortSignal | undefined;
}

export function cancelled(reason: unknown): PungiError {
  if (reason instanceof PungiError) return reason;
  return new PungiError('CANCELLED', 'The work on packages was cancelled.', {}, reason);
}
