import type { StepOptions } from '../../contract/environment.js';
import type { UvWheel } from './uv-wheels.js';

/** The program that chooses and installs packages. */
export interface Uv {
  version: string;
  path: string;
  origin: 'configured' | 'PATH' | 'interpreter' | 'own';
}

export interface Pin {
  name: string;
  /** Empty where it comes from an address that does not tell. */
  version: string;
  /** As `sha256:…`. */
  hashes: string[];
  /** Where it comes from, if not from the index. */
  url?: string;
}

export type PackageSource = 'url' | 'path' | 'sdist';

export interface PackagingOptions extends StepOptions {
  timeoutMs: number;
  /** What is allowed beside wheels of the index. 'sdist' allows builds. */
  sources: readonly PackageSource[];
}

/** A virtual environment, and the interpreter that it is of. */
export interface Target {
  python: string;
  venv: string;
}

/** Packages whose versions are still to be chosen. */
export interface ResolveRequest {
  /** The interpreter that packages are for. */
  python: string;
  requirements: string[];
  /** These stay at their versions where they can. */
  known: readonly Pin[];
}

/** Takes out of the cache what an installation brought into it; called where its environment is rejected afterwards. */
export type Forget = () => Promise<void>;

export interface PackagerSettings {
  /** The folder of all environments; caches and own tools lie below it. */
  base: string;
  /** The interpreter that starts tools. */
  python: string;
  env: NodeJS.ProcessEnv;
  /** What packages may unpack to, in MB. */
  maxMb?: number | undefined;
  /** The wheel to fetch where there is no uv; that of this machine unless it is given. */
  uvWheel?: UvWheel | undefined;
  /** Aborted when everything ends: what is done for nobody in particular ends then. */
  closing?: AbortSignal | undefined;
}
