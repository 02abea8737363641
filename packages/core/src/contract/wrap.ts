import { z } from 'zod';

/** JSON Schema 2020-12 with an object at its root. */
export const ObjectSchema = z.looseObject({ type: z.literal('object') });
export type ObjectSchema = z.infer<typeof ObjectSchema>;

/** How an argument becomes part of a command line. */
export const ArgvRule = z.strictObject({
  parameter: z.string(),
  flag: z.string().nullable().describe('such as "--count"; null: a positional argument'),
  takes: z
    .enum(['one', 'many', 'each', 'nothing', 'count'])
    .describe(
      'one value; many after one flag; each value after a repeated flag; a switch; a switch repeated as often as the number',
    ),
  whenFalse: z.string().optional().describe('of a switch: the flag that turns it off'),
  before: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe('for an option of a parent command: the index, from 0, of the subcommand that it precedes'),
});
export type ArgvRule = z.infer<typeof ArgvRule>;

const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/** Annotations about the effects of a tool, for clients. */
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
    .describe('its name for clients; may be changed'),
  title: z.string().optional().describe('for people; may be set'),
  description: z.string().describe('what the model reads; may be changed'),
  hidden: z.boolean().optional().describe('true: not offered to clients'),
  annotations: ToolHints.optional().describe('may be set'),
  inputSchema: ObjectSchema.describe('of the arguments; descriptions in it may be changed'),
  outputSchema: ObjectSchema.nullable().describe('of the structured content; null: none is declared'),
  line: z.number().int().describe('where it is defined in the script'),
  source: z
    .strictObject({ description: z.string(), parameters: z.record(z.string(), z.string()) })
    .describe("the script's own descriptions, which show a later wrap what a person has changed"),
};

export const FunctionTool = z.strictObject({
  kind: z.literal('function'),
  function: z.string().describe('its name in the script'),
  isAsync: z.boolean(),
  wrapsResult: z
    .boolean()
    .describe('the structured content is {"result": …}, because the value is not an object'),
  ...common,
});
export type FunctionTool = z.infer<typeof FunctionTool>;

export const ScriptTool = z.strictObject({
  kind: z.literal('script'),
  command: z.array(z.string()).describe('the subcommand, as the first arguments'),
  argv: z.array(ArgvRule),
  parser: z
    .enum(['argparse', 'optparse', 'click', 'typer'])
    .nullable()
    .describe('the library that parses its arguments; null: unknown, so they are passed as given'),
  stdin: z.string().nullable().describe('the parameter that is passed on standard input'),
  entry: z
    .string()
    .optional()
    .describe('the function or command of the script that starts it, where running the script does not'),
  ...common,
});
export type ScriptTool = z.infer<typeof ScriptTool>;

export const ToolSpec = z.discriminatedUnion('kind', [FunctionTool, ScriptTool]);
export type ToolSpec = z.infer<typeof ToolSpec>;

/** A part of a script that does not become a tool, or only partly. */
export const Remark = z.strictObject({
  line: z.number().int(),
  name: z.string().describe('the function, parameter or option, such as "plot" or "plot(style)"'),
  reason: z.string(),
  isSkipped: z.boolean().describe('false: it still becomes a tool'),
});
export type Remark = z.infer<typeof Remark>;

/** What a script offers and needs: found by loading it, or, where it cannot be loaded, by its syntax alone. */
export const Discovery = z.strictObject({
  description: z.string().describe("the script's own docstring"),
  functions: z.array(FunctionTool),
  scripts: z.array(ScriptTool).describe('its command line: one, or one for each subcommand'),
  remarks: z.array(Remark),
  problem: z
    .string()
    .nullable()
    .describe('why it cannot be loaded, so that its functions are known by their syntax alone'),
  needsLoading: z.boolean().describe('there is more to find by loading it than by reading it'),
  dependencies: z.array(z.string()).describe('of its "# /// script" block'),
  requiresPython: z.string().nullable(),
  imports: z.array(z.string()).describe('top-level modules that are not of the standard library'),
  firstImports: z.array(z.string()).describe('modules that it imports before it does anything else'),
  namedFiles: z
    .array(z.strictObject({ path: z.string(), line: z.number().int() }))
    .describe('strings that may name files next to it'),
  hasMainGuard: z.boolean(),
  hasSideEffects: z.boolean().describe('top-level statements do more than define'),
});
export type Discovery = z.infer<typeof Discovery>;

export const WRAP_MODES = ['auto', 'function', 'script', 'both'] as const;
export type WrapMode = (typeof WRAP_MODES)[number];

/** tools.json: the description of a script's tools. A person may change the fields that say so. */
export const ToolsFile = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1),
  name: z.string().describe('name of the server, or of the group of tools'),
  description: z.string(),
  script: z.string().describe('the path of the script, relative to this file'),
  package: z
    .string()
    .optional()
    .describe(
      'the package that the script is a module of, such as "shop.tools": it is run as with python -m',
    ),
  sha256: z.string().describe('of the script when it was wrapped'),
  mode: z.enum(WRAP_MODES),
  functions: z
    .array(z.string())
    .optional()
    .describe('the chosen functions, so that a later wrap adds no others; not given: all'),
  environment: z.string().nullable().describe('in the server: the environment that it runs in; may be set'),
  profile: z.string().nullable().describe('in the server: the profile that it runs under; may be set'),
  dependencies: z.array(z.string()),
  requiresPython: z.string().nullable(),
  missingImports: z.array(z.string()).describe('imported, but missing in the environment'),
  modules: z.array(z.string()).describe('files next to the script that are copied with it'),
  include: z
    .array(z.string())
    .optional()
    .describe('further files and folders to copy, as paths relative to the folder of the script; may be set'),
  tools: z.array(ToolSpec),
  remarks: z.array(Remark),
  wrappedBy: z
    .literal('client')
    .optional()
    .describe('"client": wrap_script wrote it, so clients may replace and remove it; not given: a person'),
  since: z
    .string()
    .optional()
    .describe(
      'the time of the first wrap: if two scripts have a tool of the same name, the older one keeps it',
    ),
  source: z
    .strictObject({ description: z.string() })
    .optional()
    .describe("the script's own description, which shows a later wrap what a person has changed"),
});
export type ToolsFile = z.infer<typeof ToolsFile>;

/** Images and other bytes that a function returned, in order. */
export const ValueContent = z.object({
  kind: z.enum(['image', 'audio', 'bytes']),
  mimeType: z.string(),
  base64: z.string(),
});
export type ValueContent = z.infer<typeof ValueContent>;

/** What loading a script showed. */
export interface Inspection {
  /** Null where it could not be loaded. */
  discovery: Discovery | null;
  /** Why it could not, or why none of its calls can run. */
  problem: string | null;
}

export interface DiscoverRequest {
  code: string;
  filename: string;
  /** The package that it is a module of. */
  package?: string | undefined;
  /** The environment whose Python reads it; the default if not given. */
  venvName?: string | undefined;
}
