import { z } from 'zod';
import { isMap } from '../judge/answer.js';

/** One finding of a script. */
export const ScriptFailure = z.object({
  message: z.string(),
  path: z.string().optional().describe('the field, as the script names it'),
  expected: z.json().optional(),
  actual: z.json().optional(),
  line: z.number().int().optional(),
});
export type ScriptFailure = z.infer<typeof ScriptFailure>;

export interface ScriptLog {
  /** The level that the script chose; stdout and stderr for printed lines. */
  level: string;
  message: string;
  /** Time since the script began. */
  timeMs: number;
}

/** Changes of the session variables. */
export interface SessionChanges {
  set: Readonly<Record<string, unknown>>;
  removed: readonly string[];
}

export interface ScriptResult {
  /** True if the script ended normally and found nothing wrong. */
  success: boolean;
  /** The value that the script returned, or the JSON that it printed; null if neither. */
  output: unknown;
  failures: ScriptFailure[];
  logs: ScriptLog[];
  session: SessionChanges;
  durationMs: number;
  cpuMs: number;
  /** Peak memory of the script's own process. */
  memoryMb: number;
  error: ScriptError | null;
}

/** The report of the Python side. It comes from foreign code, so it is validated. */
export const ScriptReport = z.object({
  failures: z.array(ScriptFailure).default([]),
  logs: z.array(z.tuple([z.string(), z.string(), z.number()])).default([]),
  session: z
    // Not z.record, which would drop a variable named __proto__.
    .object({ set: z.custom<SessionChanges['set']>(isMap), removed: z.array(z.string()) })
    .default({ set: {}, removed: [] }),
  result: z.unknown().optional(),
  bytecode: z.string().optional(),
  tag: z.string().optional(),
  error: z
    .object({
      stage: z.enum(['syntax', 'bytecode', 'run', 'exit']),
      type: z.string().optional(),
      message: z.string(),
      line: z.number().int().nullish(),
      column: z.number().int().nullish(),
      text: z.string().nullish(),
      traceback: z.string().nullish(),
      module: z.string().nullish(),
      isMissing: z.boolean().nullish(),
      errno: z.number().int().nullish(),
      status: z.number().int().nullish(),
      expected: z.json().optional(),
      actual: z.json().optional(),
    })
    .nullish(),
});
export type ScriptReport = z.infer<typeof ScriptReport>;
export type ReportedError = NonNullable<ScriptReport['error']>;

/** The result of a script that never ran. */
export const notRun = (error: ScriptError): ScriptResult => ({
  success: false,
  output: null,
  failures: [],
  logs: [],
  session: { set: {}, removed: [] },
  durationMs: 0,
  cpuMs: 0,
  memoryMb: 0,
  error,
});

/** Why a script failed to judge. The names are those that users know from Python. */
export const SCRIPT_ERROR_KINDS = [
  'InterpreterNotFound',
  'SyntaxError',
  'RuntimeError',
  'ImportError',
  'TimeoutError',
  'ProcessError',
  'MemoryError',
  'SecurityError',
  /** A mistake of the engine's caller, with the library's usual code. */
  'INVALID_INPUT',
  /** Not the script's fault: no capacity, no environment, no audit trail, or a request that is too large. */
  'EngineError',
] as const;
export type ScriptErrorKind = (typeof SCRIPT_ERROR_KINDS)[number];

export interface ErrorDetails {
  /** A line of the script, from 1. */
  line?: number;
  /** For a SyntaxError, from 1. */
  column?: number;
  /** The source of that line. */
  text?: string;
  /** The exception's class, such as KeyError. */
  exception?: string;
  traceback?: string;
  /** For an ImportError. */
  module?: string;
  /** For a TimeoutError. */
  timeoutMs?: number;
  /** For a ProcessError: the exit status, or null if it was killed. */
  code?: number | null;
  /** For a ProcessError: sys.exit with only a status. */
  isPlainExit?: boolean;
  /** For a MemoryError. */
  limitMb?: number;
  /** For an InterpreterNotFound: each candidate, and why it was rejected. */
  looked?: readonly string[];
  /** For an assert that compares. */
  expected?: unknown;
  actual?: unknown;
}

export class ScriptError extends Error {
  readonly kind: ScriptErrorKind;
  readonly details: ErrorDetails;

  constructor(kind: ScriptErrorKind, message: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ScriptError';
    this.kind = kind;
    this.details = details;
  }

  toJSON(): { kind: ScriptErrorKind; message: string; details: ErrorDetails } {
    return { kind: this.kind, message: this.message, details: this.details };
  }
}
