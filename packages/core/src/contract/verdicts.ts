import { constants } from 'node:os';
import { z } from 'zod';
import type { ErrorCode } from '../base/errors.js';
import { PackageResult } from './environment.js';

export const PythonException = z.object({
  type: z.string().describe('the exception class, e.g. ZeroDivisionError'),
  message: z.string(),
  line: z.number().int().nullable().describe('line of the submitted code, 1-based'),
  column: z.number().int().nullable().describe('column of the submitted code, 1-based'),
  text: z.string().nullable().describe('the source line'),
  traceback: z.string().describe('the traceback without frames of the sandbox itself'),
  missingModule: z.string().nullable().describe('the module that an import did not find'),
  missingPackage: z.string().nullable().describe('the package to install for it'),
  hint: z.string().nullable().describe('the suggested fix'),
});
export type PythonException = z.infer<typeof PythonException>;

/** A place where code violates the scope of its profile. */
export const ScopeViolation = z.object({
  line: z.number().int().nullable().describe('line of the submitted code, 1-based'),
  column: z.number().int().nullable().describe('column of the submitted code, 1-based'),
  rule: z.enum(['import', 'builtin', 'operation', 'introspection']),
  what: z.string().describe('the module, builtin or operation'),
  message: z.string().describe('the reason, with the profile'),
});
export type ScopeViolation = z.infer<typeof ScopeViolation>;

/**
 * The responsible party of an ending, for the metrics. Code that fails or exceeds its limits ran as expected
 * ('none'). Cancelled, invalid and denied requests are the caller's: many of them must not hide real failures behind
 * a low rate.
 */
export type Fault = 'none' | 'server' | 'caller';

interface Entry<Fields extends z.ZodRawShape, Code extends ErrorCode> {
  /** The codes that the verdict can have, each with the exit code of `pungi run` and the responsible party. */
  codes: Record<Code, { exit: number; fault: Fault }>;
  fields: Fields;
  /** Builds the message from the fields. Verdicts without this function get their message from the caller. */
  message?: (fields: z.infer<z.ZodObject<Fields>>) => string;
  /** The word for the run in the log. */
  logged: 'failed' | 'refused' | 'cancelled';
}
const entry = <Fields extends z.ZodRawShape, Code extends ErrorCode>(about: Entry<Fields, Code>) => about;

const LIMIT_EXCEEDED = { exit: 137, fault: 'none' } as const;
const limitMs = { limitMs: z.number() };
const limitMb = { limitMb: z.number(), exception: PythonException.optional() };

const LOST = {
  true: 'The server was ended while the run was under way: how it ended is not known.',
  false: 'The server was ended before the run had started: start it again.',
  null: 'The server was ended; whether the run had started is not known.',
};

/** Every way in which a run can fail. To add one: an entry here, and a test. */
export const FAILURES = {
  'python-error': entry({
    codes: { PYTHON_ERROR: { exit: 1, fault: 'none' } },
    fields: { exception: PythonException },
    message: ({ exception }) => describeException(exception),
    logged: 'failed',
  }),
  exited: entry({
    codes: { NONZERO_EXIT: { exit: 1, fault: 'none' } },
    fields: { status: z.number().int() },
    message: ({ status }) => `The script ended with status ${status}.`,
    logged: 'failed',
  }),
  'timed-out': entry({
    codes: { EXECUTION_TIMEOUT: { exit: 124, fault: 'none' } },
    fields: limitMs,
    message: ({ limitMs }) => `The run was ended after ${limitMs} ms.`,
    logged: 'failed',
  }),
  'cpu-exceeded': entry({
    codes: { CPU_LIMIT_EXCEEDED: LIMIT_EXCEEDED },
    fields: limitMs,
    message: ({ limitMs }) => `The run used more than ${limitMs} ms of CPU time and was ended.`,
    logged: 'failed',
  }),
  'memory-exceeded': entry({
    codes: { MEMORY_LIMIT_EXCEEDED: LIMIT_EXCEEDED },
    fields: limitMb,
    message: ({ limitMb }) => `The run needed more than ${limitMb} MB of memory.`,
    logged: 'failed',
  }),
  'processes-exceeded': entry({
    codes: { PROCESS_LIMIT_EXCEEDED: LIMIT_EXCEEDED },
    fields: { limit: z.number() },
    message: ({ limit }) => `The run started more than ${limit} processes and threads and was ended.`,
    logged: 'failed',
  }),
  'disk-exceeded': entry({
    codes: { DISK_LIMIT_EXCEEDED: LIMIT_EXCEEDED },
    fields: limitMb,
    message: ({ limitMb }) => `The run wrote more than ${limitMb} MB, or too many files.`,
    logged: 'failed',
  }),
  'output-exceeded': entry({
    codes: { OUTPUT_LIMIT_EXCEEDED: LIMIT_EXCEEDED },
    fields: { limitBytes: z.number() },
    message: ({ limitBytes }) => `The run printed more than ${limitBytes} bytes and was ended.`,
    logged: 'failed',
  }),
  killed: entry({
    // Code can send itself any signal, so a signal alone is nobody's fault.
    codes: { KILLED_BY_SIGNAL: LIMIT_EXCEEDED },
    fields: { signal: z.string() },
    message: ({ signal }) => describeSignal(signal),
    logged: 'failed',
  }),
  cancelled: entry({
    codes: { CANCELLED: { exit: 130, fault: 'caller' } },
    fields: {},
    message: () => 'The run was cancelled.',
    logged: 'cancelled',
  }),
  denied: entry({
    codes: { DENIED: { exit: 77, fault: 'caller' } },
    fields: {
      reason: z.string(),
      profile: z.string().optional().describe('the profile whose scope the code left'),
      violations: z.array(ScopeViolation).optional(),
    },
    message: ({ reason }) => reason,
    logged: 'refused',
  }),
  busy: entry({
    codes: { SERVER_BUSY: { exit: 69, fault: 'server' } },
    fields: {
      queued: z.number(),
      fault: z
        .literal('caller')
        .optional()
        .describe('set if the caller asked for more than it may, and there is room for others'),
    },
    logged: 'refused',
  }),
  invalid: entry({
    codes: { INVALID_INPUT: { exit: 2, fault: 'caller' } },
    fields: { issues: z.array(z.string()) },
    logged: 'refused',
  }),
  'no-environment': entry({
    codes: {
      ENVIRONMENT_NOT_FOUND: { exit: 66, fault: 'caller' },
      ENVIRONMENT_IN_USE: { exit: 75, fault: 'caller' },
      ENVIRONMENT_DAMAGED: { exit: 74, fault: 'server' },
      // Usually a name that does not exist, or versions that conflict.
      PACKAGE_INSTALLATION_ERROR: { exit: 76, fault: 'caller' },
      TOOL_UNAVAILABLE: { exit: 69, fault: 'server' },
    },
    fields: {
      explanation: z.string().optional().describe("the resolver's explanation, if there is one"),
      packages: z
        .array(PackageResult)
        .optional()
        .describe('packages that could not be installed, each with the reason'),
    },
    logged: 'refused',
  }),
  'no-session': entry({
    codes: {
      SESSION_NOT_FOUND: { exit: 66, fault: 'caller' },
      SESSION_ENDED: { exit: 66, fault: 'caller' },
    },
    fields: {},
    logged: 'refused',
  }),
  // Nobody saw how it ended: the server or the worker that ran it was killed, or could not be reached.
  lost: entry({
    codes: { RUN_LOST: { exit: 70, fault: 'server' } },
    fields: {
      started: z
        .boolean()
        .nullable()
        .describe('whether the code had begun to run; null if that is not known'),
    },
    message: ({ started }) => LOST[`${started}`],
    logged: 'failed',
  }),
  unavailable: entry({
    codes: {
      INTERPRETER_NOT_FOUND: { exit: 69, fault: 'server' },
      SANDBOX_UNAVAILABLE: { exit: 69, fault: 'server' },
    },
    fields: {},
    logged: 'failed',
  }),
  unrecorded: entry({
    codes: {
      AUDIT_UNAVAILABLE: { exit: 69, fault: 'server' },
      AUDIT_DAMAGED: { exit: 74, fault: 'server' },
    },
    fields: {},
    logged: 'refused',
  }),
  internal: entry({
    codes: { INTERNAL_ERROR: { exit: 70, fault: 'server' } },
    fields: {},
    logged: 'failed',
  }),
};

type Failures = typeof FAILURES;
export type FailureKind = keyof Failures;
export type VerdictKind = 'ok' | FailureKind;
/** The codes of all verdicts. PungiError has a few more. */
export type VerdictCode = { [Kind in FailureKind]: keyof Failures[Kind]['codes'] }[FailureKind];
export const VERDICT_KINDS: readonly VerdictKind[] = ['ok', ...(Object.keys(FAILURES) as FailureKind[])];

type FailureOf<Kind extends FailureKind> =
  Failures[Kind] extends Entry<infer Fields, infer Code>
    ? z.infer<z.ZodObject<Fields & { message: z.ZodString }>> & { kind: Kind; code: Code }
    : never;
export type Failure = { [Kind in FailureKind]: FailureOf<Kind> }[FailureKind];

/** How a run ended. The supervisor and the server decide it from facts, never from text. */
export type Verdict = { kind: 'ok' } | Failure;

function schemaOf(kind: FailureKind) {
  const { codes, fields } = FAILURES[kind];
  const [code, ...others] = Object.keys(codes) as [string, ...string[]];
  return z.object({
    kind: z.literal(kind),
    code: others.length === 0 ? z.literal(code) : z.enum([code, ...others]),
    message: z.string().describe('one sentence for a person'),
    ...fields,
  });
}

const [firstKind, ...otherKinds] = Object.keys(FAILURES) as [FailureKind, ...FailureKind[]];
export const Verdict = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ok') }),
  schemaOf(firstKind),
  ...otherKinds.map(schemaOf),
]) as unknown as z.ZodType<Verdict>;

/** Builds a verdict. Its message follows from its fields, unless `message` is given. */
export function failure<Kind extends FailureKind>(
  kind: Kind,
  fields: Omit<FailureOf<Kind>, 'kind' | 'code' | 'message'>,
  message?: string,
): FailureOf<Kind> {
  const { codes, message: describe } = FAILURES[kind] as {
    codes: object;
    message?: (fields: unknown) => string;
  };
  const [code] = Object.keys(codes);
  return { kind, code, message: message ?? describe?.(fields), ...fields } as unknown as FailureOf<Kind>;
}

const KIND_OF_CODE = new Map(
  Object.entries(FAILURES).flatMap(([kind, { codes }]) =>
    Object.keys(codes).map((code) => [code, kind as FailureKind] as const),
  ),
);

/** Returns the kind of verdict for a code, or 'internal' if no verdict has it. */
export const kindOfCode = (code: ErrorCode): FailureKind => KIND_OF_CODE.get(code) ?? 'internal';

const codeEntry = (code: ErrorCode) =>
  (FAILURES[kindOfCode(code)].codes as Record<string, { exit: number; fault: Fault }>)[code];

export function faultOf(verdict: Verdict): Fault {
  if (verdict.kind === 'ok') return 'none';
  return (verdict.kind === 'busy' ? verdict.fault : undefined) ?? codeEntry(verdict.code)!.fault;
}

/** What an error says of whose fault it is that something is busy. */
export const byCaller = ({ fault }: Readonly<Record<string, unknown>>): { fault?: 'caller' } =>
  fault === 'caller' ? { fault } : {};

/** Returns the exit code of a command for an error code, or undefined if no verdict has it. */
export const exitOfCode = (code: ErrorCode): number | undefined => codeEntry(code)?.exit;

/** Returns the exit code of `pungi run`. The status and signal of a script pass through. */
export function exitCodeOf(verdict: Verdict): number {
  if (verdict.kind === 'ok') return 0;
  if (verdict.kind === 'exited') return verdict.status & 0xff;
  if (verdict.kind === 'killed') {
    return 128 + ((constants.signals as Record<string, number>)[verdict.signal] ?? 0);
  }
  return exitOfCode(verdict.code)!;
}

function describeException({ type, message, line }: PythonException): string {
  // Some libraries begin with an empty line.
  const [firstLine] = message.trimStart().split('\n', 1) as [string];
  const what = firstLine === '' ? type : `${type}: ${firstLine}`;
  return `${what.slice(0, 500)}${line === null ? '' : ` (line ${line})`}`;
}

const SIGNAL_MEANINGS: Record<string, string> = {
  SIGSEGV: 'a segmentation fault, usually in a native extension or from runaway recursion',
  SIGABRT: 'an abort from native code',
  SIGFPE: 'an arithmetic error in native code',
  SIGBUS: 'a bad memory access in native code',
  SIGILL: 'an illegal instruction in native code',
  SIGSYS: 'a forbidden system call',
};

function describeSignal(signal: string): string {
  const meaning = SIGNAL_MEANINGS[signal];
  return `The script was killed by ${signal}${meaning ? `: ${meaning}` : ''}.`;
}
