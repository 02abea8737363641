import { z } from 'zod';

/** The format of test specifications. Names and defaults are those of the harness that it comes from. */

const seconds = (fallback: number) => z.number().positive().max(86_400).default(fallback);
const JsonSchema = z.union([z.boolean(), z.record(z.string(), z.unknown())]);

const Transport = z.enum(['stdio', 'http']);
const Era = z.enum(['auto', 'legacy', 'modern']);

export const ServerUnderTest = z
  .strictObject({
    command: z
      .string()
      .min(1)
      .optional()
      .describe('the command that starts it; with http, if it is not running already'),
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}).describe('added to a minimal environment'),
    working_dir: z.string().optional().describe('relative to the specification'),
    transport: Transport.default('stdio'),
    url: z.string().optional().describe(`http: its address; \${port} is replaced by a free port`),
    headers: z.record(z.string(), z.string()).default({}),
    protocol: Era.default('auto').describe('the era of MCP to use'),
    startup_timeout_seconds: seconds(30),
    shutdown_timeout_seconds: seconds(10),
    working_directory: z.string().optional().describe('the older name of working_dir'),
    environment: z.record(z.string(), z.string()).optional().describe('the older name of env'),
    startup_timeout: z
      .number()
      .positive()
      .max(86_400)
      .optional()
      .describe('the older name of startup_timeout_seconds'),
    shutdown_timeout: z
      .number()
      .positive()
      .max(86_400)
      .optional()
      .describe('the older name of shutdown_timeout_seconds'),
    sandbox: z.boolean().default(false).describe('run it in the kernel sandbox, without network'),
  })
  .refine((server) => server.command !== undefined || server.url !== undefined, 'give a command or a url');
export type ServerUnderTest = z.infer<typeof ServerUnderTest>;

const Capabilities = z.strictObject({
  tools: z.boolean().optional(),
  resources: z.boolean().optional(),
  prompts: z.boolean().optional(),
  sampling: z.boolean().optional(),
  logging: z.boolean().optional(),
  completions: z.boolean().optional(),
  experimental: z.record(z.string(), z.unknown()).optional(),
});

const FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] as const;

export const FieldExpectation = z.strictObject({
  path: z
    .string()
    .describe('JSONPath (RFC 9535), into the structured content if there is any, else the content'),
  value: z.unknown().optional().describe('exactly this'),
  field_type: z.enum(FIELD_TYPES).optional(),
  type: z.enum(FIELD_TYPES).optional().describe('the same as field_type'),
  required: z.boolean().default(true),
  pattern: z.string().optional().describe('a regular expression'),
  min: z.number().optional(),
  max: z.number().optional(),
  contains: z.unknown().optional().describe('a part of a text, or an item of an array'),
  min_length: z.number().int().min(0).optional(),
  max_length: z.number().int().min(0).optional(),
  array_length: z.number().int().min(0).optional(),
  one_of: z.array(z.unknown()).optional(),
  not: z.unknown().optional().describe('anything but this'),
});
export type FieldExpectation = z.infer<typeof FieldExpectation>;

const Range = z.union([
  z.number().int().min(0),
  z.strictObject({ min: z.number().int().min(0).optional(), max: z.number().int().min(0).optional() }),
]);

export const Expected = z.strictObject({
  error: z
    .union([z.boolean(), z.literal('any')])
    .default(false)
    .describe(
      'a JSON-RPC error, or a result with isError; any: it may fail or succeed, but must be answered',
    ),
  error_code: z.number().int().optional(),
  error_message_contains: z.string().optional(),
  error_message_pattern: z.string().optional(),
  schema: JsonSchema.optional(),
  schema_file: z.string().optional().describe('relative to the specification'),
  fields: z.array(FieldExpectation).default([]),
  allow_extra_fields: z.boolean().default(true).describe('false: only the named fields are allowed'),
  equals: z.unknown().optional().describe('the whole answer equals this'),
  text_contains: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe('in the text content'),
  text_not_contains: z.union([z.string(), z.array(z.string())]).optional(),
  text_pattern: z.string().optional(),
  expression: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe('Python expressions over response, request, variables; all must be true'),
  snapshot: z
    .union([z.boolean(), z.string()])
    .optional()
    .describe('compared with the stored snapshot; a string names it'),
  snapshot_ignore: z.array(z.string()).default([]).describe('JSONPaths of values that change between runs'),
  progress: Range.optional().describe('how many progress notifications'),
  logs: Range.optional().describe('how many log messages'),
  cancelled: z.boolean().optional().describe('the call ends because it was cancelled'),
  max_execution_time_ms: z.number().positive().optional(),
  memory_limit_mb: z.number().positive().optional(),
});
export type Expected = z.infer<typeof Expected>;

export const Performance = z.strictObject({
  max_duration_ms: z.number().positive().optional(),
  max_memory_mb: z.number().positive().optional().describe('resident memory of the processes of the server'),
  min_ops_per_sec: z
    .number()
    .positive()
    .optional()
    .describe('measured with concurrent_requests or repeated calls'),
});

export const Retry = z.strictObject({
  max_retries: z.number().int().min(0).max(100).default(3),
  retry_delay_ms: z.number().min(0).max(600_000).default(1000),
  exponential_backoff: z.boolean().default(true),
});

/** The script languages of the original harness. */
const SCRIPT_LANGUAGES = ['python', 'javascript', 'lua'] as const;

export const ValidationScript = z
  .strictObject({
    name: z.string().min(1),
    description: z.string().optional(),
    language: z
      .enum(SCRIPT_LANGUAGES)
      .default('python')
      .describe('scripts in other languages than Python are skipped'),
    execution_phase: z.enum(['before', 'after', 'both']).default('after'),
    required: z.boolean().default(true).describe('false: its findings are shown but fail nothing'),
    source: z.string().optional(),
    file: z.string().optional().describe('relative to the specification'),
    function: z.string().optional().describe('called with the context; else the script itself is the check'),
    timeout_ms: z.number().positive().max(600_000).optional(),
  })
  .refine(
    (script) => (script.source === undefined) !== (script.file === undefined),
    'give either source or file',
  );
export type ValidationScript = z.infer<typeof ValidationScript>;

export const ScriptConfig = z.strictObject({
  enabled: z.boolean().default(true),
  scripts: z.array(ValidationScript).default([]),
  environment: z.string().optional().describe('the named environment that scripts run in'),
  security: z
    .strictObject({
      allow_network: z.boolean().default(false).describe('never granted: scripts have no network'),
      timeout_ms: z.number().positive().max(600_000).default(5000),
      memory_limit_mb: z.number().positive().default(256),
    })
    .optional(),
});

/** One call before or after a test. */
export const Step = z
  .strictObject({
    tool: z.string().optional(),
    resource: z.string().optional().describe('the URI'),
    prompt: z.string().optional(),
    input: z.record(z.string(), z.unknown()).default({}),
    capture: z.record(z.string(), z.string()).default({}).describe('variable to JSONPath into the answer'),
    allow_error: z.boolean().default(false),
  })
  .refine(
    ({ tool, resource, prompt }) => [tool, resource, prompt].filter((one) => one !== undefined).length === 1,
    'give exactly one of tool, resource and prompt',
  );
export type Step = z.infer<typeof Step>;

const CaseConfig = z.strictObject({
  concurrent_requests: z.number().int().min(1).max(1000).optional(),
  stress_test_duration_seconds: z.number().positive().max(3600).optional(),
  retry_attempts: z.number().int().min(0).max(100).optional(),
  timeout_override_ms: z.number().positive().optional(),
  requests_per_second: z.number().positive().optional(),
  repeat: z.number().int().min(1).max(100_000).optional(),
});

export const TestCase = z.strictObject({
  name: z.string().min(1),
  description: z.string().optional(),
  dependencies: z.array(z.string()).optional().describe('names of tests that must have passed'),
  depends_on: z.array(z.string()).optional().describe('the same as dependencies'),
  input: z.unknown().default({}),
  complete: z
    .string()
    .min(1)
    .optional()
    .describe(
      'for a prompt or a template: requests completions of this argument; the input holds the known arguments',
    ),
  expected: Expected.prefault({}),
  performance: Performance.optional(),
  skip: z.union([z.boolean(), z.string()]).default(false).describe('true, or the reason'),
  only: z.boolean().default(false),
  tags: z.array(z.string()).default([]),
  validation_scripts: z.array(z.union([z.string(), ValidationScript])).default([]),
  test_config: CaseConfig.optional(),
  setup: z.array(Step).default([]),
  cleanup: z.array(Step).default([]),
  capture: z.record(z.string(), z.string()).default({}).describe('variable to JSONPath, for later tests'),
  matrix: z
    .record(z.string(), z.array(z.unknown()).min(1))
    .optional()
    .describe('one test for each combination'),
  variables: z.record(z.string(), z.unknown()).optional(),
  elicitation: z
    .array(
      z.strictObject({
        action: z.enum(['accept', 'decline', 'cancel']),
        content: z.record(z.string(), z.unknown()).optional(),
      }),
    )
    .default([])
    .describe('answers to questions of the server, in order'),
  sampling: z.array(z.unknown()).default([]).describe('the answer when the server requests a completion'),
  cancel_after_ms: z.number().min(0).optional().describe('cancel the call after this time'),
  cancel_after_progress: z.number().int().min(1).optional(),
});
export type TestCase = z.infer<typeof TestCase>;

const tests = z.array(TestCase).default([]);
const SchemaOrFile = z.union([z.string(), z.record(z.string(), z.unknown())]);

const ToolTests = z.strictObject({
  name: z.string().min(1),
  description: z.string().optional(),
  input_schema: SchemaOrFile.optional().describe(
    'the schema that the tool must advertise; inline, or a file',
  ),
  output_schema: SchemaOrFile.optional(),
  tests,
});
const ResourceTests = z.strictObject({
  uri_template: z.string().min(1),
  name: z.string().optional(),
  description: z.string().optional(),
  mime_type: z.string().optional(),
  tests,
});
const PromptTests = z.strictObject({
  name: z.string().min(1),
  description: z.string().optional(),
  arguments: z
    .array(
      z.strictObject({
        name: z.string(),
        description: z.string().optional(),
        required: z.boolean().default(false),
      }),
    )
    .optional(),
  tests,
});

const TestConfig = z.strictObject({
  timeout_seconds: seconds(60),
  max_concurrency: z.number().int().min(1).max(256).default(4),
  fail_fast: z.boolean().default(false),
  retry: Retry.optional(),
  fresh_server: z.boolean().default(false).describe('start a new server for every test'),
});

export const TestSpecification = z.strictObject({
  $schema: z.string().optional(),
  name: z.string().min(1),
  version: z.string().optional(),
  description: z.string().optional(),
  includes: z
    .array(z.string())
    .default([])
    .describe('other files whose tests, scripts and variables are added'),
  variables: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(`for \${name} in texts; \${env:NAME} is the environment`),
  capabilities: Capabilities.optional().describe('what the server must, or must not, advertise'),
  server: ServerUnderTest.optional().describe('an included file may leave it out'),
  setup: z.array(Step).default([]),
  cleanup: z.array(Step).default([]),
  tools: z.array(ToolTests).default([]),
  resources: z.array(ResourceTests).default([]),
  prompts: z.array(PromptTests).default([]),
  validation_scripts: z.array(ValidationScript).default([]),
  script_config: ScriptConfig.optional(),
  test_config: TestConfig.prefault({}),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
export type TestSpecification = z.infer<typeof TestSpecification>;
