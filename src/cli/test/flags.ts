import type { Parsed } from '../act.js';

/** What `pungi test run` can be told. */
export interface RunFlags extends Parsed {
  tags?: string[];
  filter?: string;
  parallel?: number;
  failFast?: boolean;
  timeout?: number;
  updateSnapshots?: boolean;
  report?: string[];
  var?: Record<string, string>;
  verbose?: boolean;
  watch?: boolean;
  strict?: boolean;
  list?: boolean;
}

/** Which server is meant: a command, an address, or that of a specification. */
export interface ServerFlags extends Parsed {
  url?: string;
  spec?: string;
  serverEnv?: Record<string, string>;
  header?: Record<string, string>;
  protocol?: 'auto' | 'legacy' | 'modern';
  sandbox?: boolean;
  timeout: number;
}

export interface InitFlags extends ServerFlags {
  output: string;
  force?: boolean;
  call: 'read-only' | 'all' | 'none';
}

export interface RecordFlags extends Pick<ServerFlags, 'url' | 'serverEnv' | 'header'>, Parsed {
  port: number;
  output: string;
  force?: boolean;
  exact?: boolean;
}

export interface LintFlags extends ServerFlags {
  strict?: boolean;
  ignore?: string[];
}

export interface FuzzFlags extends ServerFlags {
  tool?: string[];
  runs: number;
  seed?: number;
  output?: string;
  force?: boolean;
}

export interface BenchFlags extends ServerFlags {
  tool?: string[];
  input?: string;
  duration: number;
  concurrency: number;
}
