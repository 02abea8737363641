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

/** Runs Python for the harness: the part of the library's facade that it needs. */
export interface PythonRunner {
  /** Resolves when a worker is ready; rejects with what is missing. */
  ready(): Promise<void>;
  precompile(code: string, filename?: string): Promise<CompiledCode>;
  /** Never rejects: a problem is a verdict. */
  runCompiled(
    script: CompiledCode,
    request?: Omit<RunRequest, 'code' | 'file' | 'filename'>,
    options?: RunOptions,
  ): Promise<Outcome>;
  close(): Promise<void>;
}

export const DEFAULT_MEMORY_MB = 256;
/** The longest timeout of a single script. */
export const LONGEST_MS = 600_000;

const EngineConfig = z.strictObject({
  timeoutMs: z.number().positive().max(LONGEST_MS).default(5000),
  memoryLimitMb: z.number().positive().default(DEFAULT_MEMORY_MB),
  environment: z.string().min(1).optional(),
  maxConcurrent: z.number().int().positive().default(5),
});
export type EngineConfig = z.infer<typeof EngineConfig>;

export interface ScriptEngineConfig {
  /** The time limit of a script; default 5000 ms. */
  timeoutMs?: number;
  /** Default 256 MB. */
  memoryLimitMb?: number;
  /** The named environment of scripts; default: the default one. */
  environment?: string;
  /** Concurrent scripts. Others wait here, not in the runner's queue. */
  maxConcurrent?: number;
}

/** Fills in defaults. Throws if a setting is invalid, before anything is started. */
export function wholeConfig(config: ScriptEngineConfig): EngineConfig {
  const parsed = EngineConfig.safeParse(config);
  if (parsed.success) return parsed.data;
  const problems = jsonFaults(parsed.error).join('; ');
  throw new ScriptError('INVALID_INPUT', `The configuration of the Python engine is not valid: ${problems}.`);
}

/** The findings of a script or of expressions. */
export interface Validation {
  failures: Failure[];
  /** Findings of a script that is not required. */
  advisories: Failure[];
  logs: z.infer<typeof LogLine>[];
  /** Present for a script; expressions have none. */
  run?: Omit<ScriptRun, 'phase'>;
}

export interface ValidateOptions {
  signal?: AbortSignal;
}

/**
 * Judges answers with Python. There is one per suite: it keeps the session variables of its scripts. Never
 * rejects.
 */
export interface Validators {
  readonly session: Readonly<Record<string, unknown>>;
  /** The caller selects the scripts of a phase. */
  run(script: PlannedScript, context: ScriptContext, options?: ValidateOptions): Promise<Validation>;
  /** Evaluates all of `expected.expression` in one run. */
  evaluate(
    expressions: readonly string[],
    context: ScriptContext,
    options?: ValidateOptions,
  ): Promise<Validation>;
}

/** The call that a script judges. The script sees it as `context`, as Python values. */
export interface ScriptContext {
  /** The request: {method, params}; None if absent. */
  request?: unknown;
  /** The response: the result, or {error: {code, message, data}}; None before the call. */
  response?: unknown;
  metadata?: ScriptMetadata;
  /** Variables of the specification and of the matrix, and captured values. */
  variables?: Readonly<Record<string, unknown>>;
  /** Values that other scripts left. A script changes them through its variable `session`. */
  session?: Readonly<Record<string, unknown>>;
  /** Finished tests, by id. */
  results?: Readonly<Record<string, unknown>>;
  /** Any other data. */
  custom?: unknown;
}

interface ScriptMetadata {
  test_name?: string;
  /** The name of the tool, resource or prompt. */
  tool_name?: string;
  server_info?: unknown;
  phase?: 'before' | 'after';
  /** The index of a repeated call, from 0. */
  index?: number;
  [more: string]: unknown;
}
