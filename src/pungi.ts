import type { Logger } from './base/logger.js';
import type { Config } from './config/schema.js';
import type { Health } from './contract/health.js';
import type { Outcome } from './contract/outcome.js';
import type { RunOptions, RunRequest } from './contract/run.js';

/** A script compiled once. Its runs skip the compiler. */
export interface CompiledScript {
  readonly sha256: string;
  readonly filename: string;
}

/** What every door calls: the gate decides, the engine runs, the metrics record. */
export declare class Pungi {
  /** Returns at once; interpreter, isolation probe and first workers come up behind it. */
  static start(config: Config, logger?: Logger): Pungi;
  /** Resolves when the first worker is parked; rejects with what is missing (SANDBOX_UNAVAILABLE, INTERPRETER_NOT_FOUND). */
  ready(): Promise<void>;
  /** Never rejects for anything the caller did: bad input, refusals and failures are verdicts. */
  run(request: RunRequest, options?: RunOptions): Promise<Outcome>;
  precompile(code: string, filename?: string): Promise<CompiledScript>;
  runCompiled(script: CompiledScript, request?: Omit<RunRequest, 'code' | 'file'>, options?: RunOptions): Promise<Outcome>;
  health(): Promise<Health>;
  /** Ends every process. */
  close(): Promise<void>;
  readonly config: Config;
}
