import { z } from 'zod';
import { isMap } from '../judge/answer.js';

/** One thing that a script found. */
export const ScriptFailure = z.object({
  message: z.string(),
  path: z.string().optional().describe('the field, as the script names it'),
  expected: z.json().optional(),
  actual: z.json().optional(),
  line: z.number().int().optional(),
});
export type ScriptFailure = z.infer<typeof ScriptFailure>;

export interface ScriptLog {
  /** As the script says it; stdout and stderr for what it printed. */
  level: string;
  message: string;
  /** Since the script began. */
  timeMs: number;
}

/** What changed in the session. */
export interface SessionChanges {
  set: Readonly<Record<string, unknown>>;
  removed: readonly string[];
}

export interface ScriptResult {
  /** It ran to its end and found nothing wrong. */
  success: boolean;
  /** What the script gave back, or the JSON that it printed; null where it did neither. */
  output: unknown;
  failures: ScriptFailure[];
  logs: ScriptLog[];
  session: SessionChanges;
  durationMs: number;
  cpuMs: number;
  /** Of the script's own process, at its highest. */
  memoryMb: number;
  error: ScriptError | null;
}

/** What the Python side tells, read as what it is: words of foreign code. */
export const ScriptReport = z.object({
  failures: z.array(ScriptFailure).default([]),
  logs: z.array(z.tuple([z.string(), z.string(), z.number()])).default([]),
  session: z
    // Not a record, which would lose a variable that is named __proto__.
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

/** The result of what never ran. */
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

/** Why a script could not judge, or how it ended instead. The names are those that its users know from Python. */
export const SCRIPT_ERROR_KINDS = [
  'InterpreterNotFound',
  'SyntaxError',
  'RuntimeError',
  'ImportError',
  'TimeoutError',
  'ProcessError',
  'MemoryError',
  'SecurityError',
  /** A mistake of whoever called the engine, named as everywhere in the library. */
  'INVALID_INPUT',
  /** Nothing that the script did: no room, no environment, no record, a request that is too large. */
  'EngineError',
] as const;
export type ScriptErrorKind = (typeof SCRIPT_ERROR_KINDS)[number];

export interface ErrorDetails {
  /** Of the script, from 1. */
  line?: number;
  /** Of a SyntaxError, from 1. */
  column?: number;
  /** The source of that line. */
  text?: string;
  /** The exception's class, such as KeyError. */
  exception?: string;
  traceback?: string;
  /** Of an ImportError. */
  module?: string;
  /** Of a TimeoutError. */
  timeoutMs?: number;
  /** Of a ProcessError: the exit status, or null where it was killed. */
  code?: number | null;
  /** Of a ProcessError: sys.exit with nothing but a status. */
  isPlainExit?: boolean;
  /** Of a MemoryError. */
  limitMb?: number;
  /** Of an InterpreterNotFound: each place, and why it would not do. */
  looked?: readonly string[];
  /** Of an assert that compares. */
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
