import type { Outcome } from '../../contract/outcome.js';
import type { RunOptions, RunRequest } from '../../contract/run.js';

export interface CompiledCode {
  readonly sha256: string;
  readonly filename: string;
  readonly code: string;
}

/** What runs Python for the harness: the facade, as far as it is needed here. */
export interface PythonRunner {
  /** Resolves when there is a worker; rejects with what is missing. */
  ready(): Promise<void>;
  precompile(code: string, filename?: string): Promise<CompiledCode>;
  /** Never rejects: what went wrong is a verdict. */
  runCompiled(
    script: CompiledCode,
    request?: Omit<RunRequest, 'code' | 'file' | 'filename'>,
    options?: RunOptions,
  ): Promise<Outcome>;
  close(): Promise<void>;
}
