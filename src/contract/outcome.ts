import { z } from 'zod';
import { Disclosure } from './disclosure.js';
import { PackageResult } from './environment.js';
import { ValueContent } from './wrap.js';

export const TIERS = ['namespace', 'landlock', 'process'] as const;
export const Tier = z.enum(TIERS);
export type Tier = z.infer<typeof Tier>;

export const PythonException = z.object({
  type: z.string().describe('the exception class, e.g. ZeroDivisionError'),
  message: z.string(),
  line: z.number().int().nullable().describe('line of the submitted code, 1-based'),
  column: z.number().int().nullable().describe('column of the submitted code, 1-based'),
  text: z.string().nullable().describe('the source line'),
  traceback: z.string().describe('the traceback without frames of the sandbox itself'),
  missingModule: z.string().nullable().describe('the module that an import did not find'),
  missingPackage: z.string().nullable().describe('the package to install for it'),
  hint: z.string().nullable().describe('what to do about it'),
});
export type PythonException = z.infer<typeof PythonException>;

/** Where code leaves the scope of its profile. */
export const ScopeViolation = z.object({
  line: z.number().int().nullable().describe('line of the submitted code, 1-based'),
  column: z.number().int().nullable().describe('column of the submitted code, 1-based'),
  rule: z.enum(['import', 'builtin', 'operation', 'introspection']),
  what: z.string().describe('the module, builtin or operation'),
  message: z.string().describe('the reason, with the profile'),
});
export type ScopeViolation = z.infer<typeof ScopeViolation>;

const say = { message: z.string().describe('one sentence for a person') };
const failure = <Kind extends string, Code extends string, Shape extends z.ZodRawShape>(
  kind: Kind,
  code: Code,
  shape: Shape,
) => z.object({ kind: z.literal(kind), code: z.literal(code), ...say, ...shape });

/** How a run ended. Decided by the supervisor and the server from facts, never from text. */
export const Verdict = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ok') }),
  failure('python-error', 'PYTHON_ERROR', { exception: PythonException }),
  failure('exited', 'NONZERO_EXIT', { status: z.number().int() }),
  failure('timed-out', 'EXECUTION_TIMEOUT', { limitMs: z.number() }),
  failure('cpu-exceeded', 'CPU_LIMIT_EXCEEDED', { limitMs: z.number() }),
  failure('memory-exceeded', 'MEMORY_LIMIT_EXCEEDED', {
    limitMb: z.number(),
    exception: PythonException.optional(),
  }),
  failure('processes-exceeded', 'PROCESS_LIMIT_EXCEEDED', { limit: z.number() }),
  failure('disk-exceeded', 'DISK_LIMIT_EXCEEDED', {
    limitMb: z.number(),
    exception: PythonException.optional(),
  }),
  failure('output-exceeded', 'OUTPUT_LIMIT_EXCEEDED', { limitBytes: z.number() }),
  failure('killed', 'KILLED_BY_SIGNAL', { signal: z.string() }),
  failure('cancelled', 'CANCELLED', {}),
  failure('denied', 'DENIED', {
    reason: z.string(),
    profile: z.string().optional().describe('the profile whose scope the code left'),
    violations: z.array(ScopeViolation).optional(),
  }),
  failure('busy', 'SERVER_BUSY', { queued: z.number() }),
  failure('invalid', 'INVALID_INPUT', { issues: z.array(z.string()) }),
  z.object({
    kind: z.literal('no-environment'),
    code: z.enum([
      'ENVIRONMENT_NOT_FOUND',
      'ENVIRONMENT_IN_USE',
      'ENVIRONMENT_DAMAGED',
      'PACKAGE_INSTALLATION_ERROR',
      'TOOL_UNAVAILABLE',
    ]),
    ...say,
    explanation: z.string().optional().describe("the resolver's own words, where there are any"),
    packages: z
      .array(PackageResult)
      .optional()
      .describe('where packages could not be installed: each, and why'),
  }),
  z.object({
    kind: z.literal('unavailable'),
    code: z.enum(['INTERPRETER_NOT_FOUND', 'SANDBOX_UNAVAILABLE']),
    ...say,
  }),
  z.object({
    kind: z.literal('unrecorded'),
    code: z.enum(['AUDIT_UNAVAILABLE', 'AUDIT_DAMAGED']),
    ...say,
  }),
  failure('internal', 'INTERNAL_ERROR', {}),
]);
export type Verdict = z.infer<typeof Verdict>;
export type VerdictKind = Verdict['kind'];

export const Output = z.object({
  text: z.string().describe('the head and the tail, around a marker, where it was longer than the limit'),
  bytes: z.number().int().describe('bytes that the run wrote'),
  truncated: z.boolean(),
});
export type Output = z.infer<typeof Output>;

export const Value = z.object({
  type: z.string(),
  repr: z
    .string()
    .describe('the last expression, or what the called function gave back, as a notebook shows it'),
  json: z.json().optional().describe('the same as JSON, where it is plain data and small'),
  content: z
    .array(ValueContent)
    .optional()
    .describe('of a called function: pictures and other bytes that it gave back'),
  note: z
    .string()
    .optional()
    .describe('of a called function: what of its value is told otherwise, or not told'),
});
export type Value = z.infer<typeof Value>;

export const Usage = z.object({
  wallMs: z.number().describe('from handing the code over until its last process had ended'),
  cpuMs: z.number().describe('CPU time of all processes of the run'),
  peakMemoryMb: z.number().describe('the highest resident memory of the processes of the run'),
  waitMs: z.number().describe('time spent waiting: for the queue, the environment and its locks, a worker'),
  installMs: z.number().describe('time spent on making or filling the environment, before the run'),
});
export type Usage = z.infer<typeof Usage>;

export const Isolation = z.object({
  tier: Tier.nullable().describe('null where nothing was run'),
  features: z.array(z.string()).describe('the kernel mechanisms in force'),
});
export type Isolation = z.infer<typeof Isolation>;

export const Outcome = z.object({
  runId: z.string(),
  verdict: Verdict,
  stdout: Output,
  stderr: Output,
  value: Value.nullable(),
  usage: Usage,
  codeSha256: z.string(),
  isolation: Isolation,
  environment: z.string().nullable().describe('the name of the environment; null where nothing was run'),
  profile: z.string().nullable().describe('the profile whose rules held; null where none was chosen'),
  cached: z
    .object({ runId: z.string(), at: z.string().describe('ISO 8601') })
    .nullable()
    .describe('the run whose outcome this is, where the code was not run again'),
  disclosure: Disclosure.nullable(),
  notes: z
    .array(z.string())
    .optional()
    .describe(
      'what a person should know of the run, such as limits that were lowered or packages that were skipped',
    ),
});
export type Outcome = z.infer<typeof Outcome>;
