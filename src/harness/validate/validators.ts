import type { z } from 'zod';
import type { Failure, LogLine, ScriptRun } from '../../contract/test-report.js';
import type { PlannedScript } from '../spec/scripts.js';
import type { ScriptContext } from './script-context.js';

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
