import { jsonFaults } from '@pungi/core/base';
import type { Failure, LogLine, Outcome, RunOptions, RunRequest, ScriptRun } from '@pungi/core/contract';
import { z } from 'zod';
import type { PlannedScript } from '../spec/scripts.js';
import { ScriptError } from './script-result.js';

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

export const DEFAULT_MEMORY_MB = 256;
/** The most that a single script can be granted. */
export const LONGEST_MS = 600_000;

const EngineConfig = z.strictObject({
  timeoutMs: z.number().positive().max(LONGEST_MS).default(5000),
  memoryLimitMb: z.number().positive().default(DEFAULT_MEMORY_MB),
  environment: z.string().min(1).optional(),
  maxConcurrent: z.number().int().positive().default(5),
});
export type EngineConfig = z.infer<typeof EngineConfig>;

export interface ScriptEngineConfig {
  /** How long a script may run; 5000 ms if not given. */
  timeoutMs?: number;
  /** 256 MB if not given. */
  memoryLimitMb?: number;
  /** The named environment that scripts run in; the default one if not given. */
  environment?: string;
  /** Scripts that run at the same time. The others wait here, and not in the runner's own queue. */
  maxConcurrent?: number;
}

/** With what is not given. Throws where it makes no sense, before anything is started for it. */
export function wholeConfig(config: ScriptEngineConfig): EngineConfig {
  const parsed = EngineConfig.safeParse(config);
  if (parsed.success) return parsed.data;
  const problems = jsonFaults(parsed.error).join('; ');
  throw new ScriptError('INVALID_INPUT', `The configuration of the Python engine is not valid: ${problems}.`);
}

/** What scripts or expressions found. */
export interface Validation {
  failures: Failure[];
  /** Found by a script that is not required. */
  advisories: Failure[];
  logs: z.infer<typeof LogLine>[];
  /** Of a script; expressions have none. */
  run?: Omit<ScriptRun, 'phase'>;
}

export interface ValidateOptions {
  signal?: AbortSignal;
}

/** Judges answers by Python. One for each suite: it keeps the session variables of its scripts. Never rejects. */
export interface Validators {
  readonly session: Readonly<Record<string, unknown>>;
  /** Whether the script belongs into this phase is for the caller to know. */
  run(script: PlannedScript, context: ScriptContext, options?: ValidateOptions): Promise<Validation>;
  /** `expected.expression`: all of them, in one run. */
  evaluate(
    expressions: readonly string[],
    context: ScriptContext,
    options?: ValidateOptions,
  ): Promise<Validation>;
}

/** What a script knows of the call that it judges. It sees this as `context`, in real Python values. */
export interface ScriptContext {
  /** What was sent: {method, params}. Absent, it is None. */
  request?: unknown;
  /** What came back: the result, or {error: {code, message, data}}. Before the call it is None. */
  response?: unknown;
  metadata?: ScriptMetadata;
  /** Those of the specification and of the matrix, and what was captured. */
  variables?: Readonly<Record<string, unknown>>;
  /** What other scripts left. A script changes it by its variable `session`. */
  session?: Readonly<Record<string, unknown>>;
  /** Tests that have ended, by their id. */
  results?: Readonly<Record<string, unknown>>;
  /** Anything else. */
  custom?: unknown;
}

interface ScriptMetadata {
  test_name?: string;
  /** The tool, the resource or the prompt. */
  tool_name?: string;
  server_info?: unknown;
  phase?: 'before' | 'after';
  /** Which of the repeated calls, from 0. */
  index?: number;
  [more: string]: unknown;
}
