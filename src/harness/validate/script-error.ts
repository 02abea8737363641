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
