/** Every error code of Pungi. Clients of earlier servers know the first six. */
export const ERROR_CODES = [
  'EXECUTION_TIMEOUT',
  'MEMORY_LIMIT_EXCEEDED',
  'PYTHON_ERROR',
  'INVALID_INPUT',
  'PACKAGE_INSTALLATION_ERROR',
  'INTERNAL_ERROR',
  'NONZERO_EXIT',
  'CPU_LIMIT_EXCEEDED',
  'PROCESS_LIMIT_EXCEEDED',
  'DISK_LIMIT_EXCEEDED',
  'OUTPUT_LIMIT_EXCEEDED',
  'KILLED_BY_SIGNAL',
  'CANCELLED',
  'DENIED',
  'SERVER_BUSY',
  'SANDBOX_UNAVAILABLE',
  'INTERPRETER_NOT_FOUND',
  'CONFIGURATION_ERROR',
  'SESSION_NOT_FOUND',
  'SESSION_ENDED',
  'SESSION_NOT_COPIED',
  'RUN_NOT_FOUND',
  'RUN_LOST',
  'ENVIRONMENT_NOT_FOUND',
  'ENVIRONMENT_EXISTS',
  'ENVIRONMENT_IN_USE',
  'ENVIRONMENT_DAMAGED',
  'TOOL_UNAVAILABLE',
  'AUDIT_UNAVAILABLE',
  'AUDIT_DAMAGED',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** The only error type of the public API: a code for machines, a sentence for people, details for both. */
export class PungiError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'PungiError';
    this.code = code;
    this.details = details;
  }

  toJSON(): { code: ErrorCode; message: string; details: Readonly<Record<string, unknown>> } {
    return { code: this.code, message: this.message, details: this.details };
  }

  /** Converts anything thrown into a PungiError; an unexpected error becomes INTERNAL_ERROR. */
  static from(thrown: unknown): PungiError {
    if (thrown instanceof PungiError) return thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new PungiError('INTERNAL_ERROR', message, {}, thrown);
  }
}

/** A request that cannot be carried out: the sentence is also its only issue. */
export const invalidInput = (sentence: string): PungiError =>
  new PungiError('INVALID_INPUT', sentence, { issues: [sentence] });
