import type { z } from 'zod';
import type { Failure, LogLine, ScriptRun } from '../../contract/test-report.js';
import type { PlannedScript } from '../spec/scripts.js';

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
