import type { StepOptions } from '../../contract/environment.js';

export interface PackagerTool {
  name: 'uv' | 'pip';
  version: string;
  path: string;
  origin: 'configured' | 'PATH' | 'own' | 'interpreter';
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

/** What is to be there, of which versions are not chosen yet. */
export interface Wish {
  /** The interpreter that packages are for. */
  python: string;
  requirements: string[];
  /** These stay at their versions where they can. */
  known: readonly Pin[];
}

/** Chooses versions of packages, and installs them. No code of what it installs runs, but that of builds in their jail. */
export interface Packager {
  readonly tool: PackagerTool;
  /** All that the requirements need. */
  resolve(wish: Wish, options: PackagingOptions): Promise<Pin[]>;
  /**
   * Exactly these, hashes required. After an error the environment may be half filled: the caller throws it away. Gives what
   * is to be called where the environment is rejected afterwards: it takes out of the cache what came into it.
   */
  installPinned(target: Target, pins: Pin[], options: PackagingOptions): Promise<Forget>;
  /** Removes what is unused from the cache. */
  prune(options: PackagingOptions): Promise<void>;
}

export type Forget = () => Promise<void>;

/** What every packager is made with. */
export interface PackagerSettings {
  /** The folder of all environments; caches and own tools lie below it. */
  base: string;
  /** The interpreter that starts tools. */
  python: string;
  env: NodeJS.ProcessEnv;
  /** What packages may unpack to, in MB. */
  maxMb?: number | undefined;
  /** Aborted when everything ends: what is done for nobody in particular ends then. */
  closing?: AbortSignal | undefined;
}
