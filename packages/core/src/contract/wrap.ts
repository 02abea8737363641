import { z } from 'zod';

/** JSON Schema 2020-12 with an object at its root. */
export const ObjectSchema = z.looseObject({ type: z.literal('object') });
export type ObjectSchema = z.infer<typeof ObjectSchema>;

/** How an argument becomes words of a command line. */
export const ArgvRule = z.strictObject({
  parameter: z.string(),
  flag: z.string().nullable().describe('such as "--count"; null: a positional word'),
  takes: z
    .enum(['one', 'many', 'each', 'nothing', 'count'])
    .describe(
      'one value; many after one flag; each value after a flag of its own; a switch; a switch said as often as the number',
    ),
  whenFalse: z.string().optional().describe('of a switch: the flag that turns it off'),
  before: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe(
      'of an option of a command above: the number, from 0, of the word of the subcommand that it comes before',
    ),
});
export type ArgvRule = z.infer<typeof ArgvRule>;

const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/** What clients are told of a tool's effects. */
const ToolHints = z.strictObject({
  title: z.string().optional(),
  readOnlyHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
});

const common = {
  name: z
    .string()
    .regex(TOOL_NAME, 'must be 1 to 128 letters, digits, "_", "-" and "."')
    .describe('what clients call it; may be changed'),
  title: z.string().optional().describe('for people; may be set'),
  description: z.string().describe('what the model reads; may be changed'),
  hidden: z.boolean().optional().describe('true: not offered to clients'),
  annotations: ToolHints.optional().describe('may be set'),
  inputSchema: ObjectSchema.describe('of the arguments; descriptions in it may be changed'),
  outputSchema: ObjectSchema.nullable().describe('of the structured content; null: none is promised'),
  line: z.number().int().describe('where it is defined in the script'),
  source: z
    .strictObject({ description: z.string(), parameters: z.record(z.string(), z.string()) })
    .describe("the script's own descriptions, by which a later look tells what a person has changed"),
};

export const FunctionTool = z.strictObject({
  kind: z.literal('function'),
  function: z.string().describe('its name in the script'),
  isAsync: z.boolean(),
  wrapsResult: z.boolean().describe('the structured content is {"result": …}, since the value is no object'),
  ...common,
});
export type FunctionTool = z.infer<typeof FunctionTool>;

export const ScriptTool = z.strictObject({
  kind: z.literal('script'),
  command: z.array(z.string()).describe('the words of a subcommand, which come first'),
  argv: z.array(ArgvRule),
  parser: z
    .enum(['argparse', 'click', 'typer'])
    .nullable()
    .describe('what reads its words; null: nothing that is known, so they are given as they come'),
  stdin: z.string().nullable().describe('the parameter that is given on standard input'),
  ...common,
});
export type ScriptTool = z.infer<typeof ScriptTool>;

export const ToolSpec = z.discriminatedUnion('kind', [FunctionTool, ScriptTool]);
export type ToolSpec = z.infer<typeof ToolSpec>;

/** Something of a script that does not become a tool, or not wholly. */
export const Remark = z.strictObject({
  line: z.number().int(),
  name: z.string().describe('the function, parameter or option, such as "plot" or "plot(style)"'),
  reason: z.string(),
  isSkipped: z.boolean().describe('false: it is a tool all the same'),
});
export type Remark = z.infer<typeof Remark>;

/** What Python's own parser finds in a script, without running it. */
export const Discovery = z.strictObject({
  description: z.string().describe("the script's own docstring"),
  functions: z.array(FunctionTool),
  scripts: z.array(ScriptTool).describe('its command line: one, or one for each subcommand'),
  remarks: z.array(Remark),
  dependencies: z.array(z.string()).describe('of its "# /// script" block'),
  requiresPython: z.string().nullable(),
  imports: z.array(z.string()).describe('top-level modules that are not of the standard library'),
  firstImports: z.array(z.string()).describe('modules that it imports before it does anything else'),
  namedFiles: z
    .array(z.strictObject({ path: z.string(), line: z.number().int() }))
    .describe('texts in it that may be names of files beside it'),
  hasMainGuard: z.boolean(),
  hasSideEffects: z.boolean().describe('statements at its top level do more than define'),
});
export type Discovery = z.infer<typeof Discovery>;

export const WRAP_MODES = ['auto', 'function', 'script', 'both'] as const;
export type WrapMode = (typeof WRAP_MODES)[number];

/** tools.json: all that is known of a script's tools. A person may change what is said to be changeable. */
export const ToolsFile = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1),
  name: z.string().describe('of the server, or of the group of tools'),
  description: z.string(),
  script: z.string().describe('the path of the script, relative to this file'),
  sha256: z.string().describe('of the script when it was looked at'),
  mode: z.enum(WRAP_MODES),
  functions: z
    .array(z.string())
    .optional()
    .describe('the functions that were chosen, so that a later look adds no other; not given: all'),
  environment: z.string().nullable().describe('in the server: the environment that it runs in; may be set'),
  profile: z.string().nullable().describe('in the server: the profile that it runs under; may be set'),
  dependencies: z.array(z.string()),
  requiresPython: z.string().nullable(),
  missingImports: z.array(z.string()).describe('imported, but in no environment that was looked at'),
  modules: z.array(z.string()).describe('files beside the script that go along with it'),
  include: z
    .array(z.string())
    .optional()
    .describe(
      'files and folders beside the script, by their paths from its folder, that go along though it imports none of them; may be set',
    ),
  tools: z.array(ToolSpec),
  remarks: z.array(Remark),
  wrappedBy: z
    .literal('client')
    .optional()
    .describe(
      '"client": wrap_script wrote it, so clients may replace it and take it away; not given: a person',
    ),
  since: z
    .string()
    .optional()
    .describe(
      'when it was wrapped first: where two scripts have a tool of the same name, the older one keeps it',
    ),
  source: z
    .strictObject({ description: z.string() })
    .optional()
    .describe("the script's own description, by which a later look tells what a person has changed"),
});
export type ToolsFile = z.infer<typeof ToolsFile>;

/** Pictures and other bytes that a function gave back, in their order. */
export const ValueContent = z.object({
  kind: z.enum(['image', 'audio', 'bytes']),
  mimeType: z.string(),
  base64: z.string(),
});
export type ValueContent = z.infer<typeof ValueContent>;

export interface DiscoverRequest {
  code: string;
  filename: string;
  /** Whose Python reads it; the default environment's if not given. */
  venvName?: string | undefined;
}
