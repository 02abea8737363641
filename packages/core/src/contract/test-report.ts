import { z } from 'zod';

/** The results of test specifications. Reports in every format are made from this. */

/** One failed expectation. */
export const Failure = z.object({
  kind: z
    .enum([
      'expectation',
      'schema',
      'snapshot',
      'script',
      'performance',
      'timeout',
      'cancellation',
      'protocol',
      'server',
      'setup',
      'capability',
    ])
    .describe('the kind of check that failed'),
  message: z.string().describe('one sentence for a person'),
  path: z.string().optional().describe('JSONPath of the field'),
  expected: z.json().optional(),
  actual: z.json().optional(),
  diff: z.string().optional().describe('lines with - and +, where texts or structures differ'),
  script: z.string().optional().describe('the validation script that found it'),
  line: z.number().int().optional().describe('in the script'),
});
export type Failure = z.infer<typeof Failure>;

export const LogLine = z.object({
  level: z.string(),
  message: z.string(),
  timeMs: z.number().describe('since the script began'),
  script: z.string().optional(),
});

/** One run of a validation script. */
export const ScriptRun = z.object({
  name: z.string(),
  phase: z.enum(['before', 'after']),
  status: z
    .enum(['passed', 'failed', 'advised', 'skipped'])
    .describe('advised: it found something, but is not required'),
  reason: z.string().optional().describe('why it was skipped'),
  durationMs: z.number(),
  cpuMs: z.number(),
  memoryMb: z.number().describe('peak'),
  errorKind: z.string().optional().describe('why it ended without a result, such as SyntaxError'),
});
export type ScriptRun = z.infer<typeof ScriptRun>;

export const TestStatus = z.enum(['passed', 'failed', 'skipped']);
export type TestStatus = z.infer<typeof TestStatus>;

export const TestResult = z.object({
  id: z.string().describe('unique in the report: "tool/add/adds two numbers", with the matrix in brackets'),
  kind: z.enum(['tool', 'resource', 'prompt', 'server']),
  target: z.string().describe('the tool, the template or the prompt'),
  name: z.string(),
  description: z.string().optional(),
  tags: z.array(z.string()),
  status: TestStatus,
  reason: z.string().optional().describe('why it was skipped'),
  durationMs: z.number().describe('of its attempts, without server starts and pauses between attempts'),
  attempts: z.number().int().min(0),
  failures: z.array(Failure),
  advisories: z.array(Failure).describe('findings of scripts that are not required'),
  logs: z.array(LogLine).describe('output of scripts'),
  scripts: z.array(ScriptRun).optional().describe('the validation scripts that ran'),
  request: z.json().optional(),
  response: z.json().optional(),
  serverStderr: z
    .string()
    .optional()
    .describe('stderr of the server during the test; kept if the test failed'),
  memoryMb: z.number().optional(),
  opsPerSecond: z.number().optional(),
  progress: z.number().int().optional(),
});
export type TestResult = z.infer<typeof TestResult>;

export const SuiteReport = z.object({
  file: z.string(),
  name: z.string(),
  server: z.object({ name: z.string(), version: z.string(), protocol: z.string() }).nullable(),
  serverStartMs: z.number().optional().describe('until the first server was ready; not part of any test'),
  startedAt: z.string(),
  durationMs: z.number(),
  warnings: z.array(z.string()).optional().describe('parts of the specification that are ignored'),
  problem: z.string().optional().describe('why tests could not run, or not all of them'),
  results: z.array(TestResult),
});
export type SuiteReport = z.infer<typeof SuiteReport>;

export const Counts = z.object({
  total: z.number().int(),
  passed: z.number().int(),
  failed: z.number().int(),
  skipped: z.number().int(),
});
export type Counts = z.infer<typeof Counts>;

export const TestReport = z.object({
  version: z.literal(1),
  startedAt: z.string(),
  durationMs: z.number(),
  counts: Counts,
  suites: z.array(SuiteReport),
});
export type TestReport = z.infer<typeof TestReport>;
