import { z } from 'zod';
import { isWithin } from '../base/json-extent.js';
import type { Caller } from './caller.js';
import type { OnStep } from './environment.js';
import { RequestedLimits } from './limits.js';
import { ObjectSchema } from './wrap.js';

/** The largest code of a request, well below the transports' limits. */
export const MAX_CODE_BYTES = 2 * 1024 * 1024;
const MAX_FILES_BYTES = 6 * 1024 * 1024;

const MAX_INPUT_BYTES = 6 * 1024 * 1024;
const MAX_ARGV_BYTES = 64 * 1024;
const TOO_LARGE = `is larger than ${MAX_INPUT_BYTES} bytes`;

const isSmall = (text: string) => Buffer.byteLength(text) <= MAX_INPUT_BYTES;

/** Python's JSON parser recurses up to a thousand levels, from its current stack depth. */
const MAX_CONTEXT_DEPTH = 500;

const SHALLOW = { depth: MAX_CONTEXT_DEPTH, parts: Number.POSITIVE_INFINITY };

function isSmallJson(value: unknown): boolean {
  try {
    const text: string | undefined = JSON.stringify(value);
    if (text === undefined || text.length > MAX_INPUT_BYTES) return false;
    const bytes = Buffer.from(text);
    return bytes.length <= MAX_INPUT_BYTES && isWithin(bytes, SHALLOW);
  } catch {
    return false;
  }
}

/** JSON has no NaN and no infinities; serializing would silently turn them into null. */
function isFiniteJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  // Most values contain no null, and need no closer check.
  if (!JSON.stringify(value)?.includes('null')) return true;
  const hasOnlyFinite = (inner: unknown): boolean =>
    typeof inner === 'object' && inner !== null
      ? Object.values(inner).every(hasOnlyFinite)
      : typeof inner !== 'number' || Number.isFinite(inner);
  return hasOnlyFinite(value);
}

const NOT_FINITE = 'must not contain NaN or Infinity: JSON has neither; use null or a text';

const isWellFormed = (text: string) => text.isWellFormed();
/** A lone surrogate is not a character: no path, argument or variable of a process can contain it. */
const NOT_WELL_FORMED = 'must be well-formed text: it holds half of a surrogate pair';

const systemText = (what: string) =>
  z
    .string()
    .refine((text) => !text.includes('\0'), `${what} must not contain a NUL character`)
    .refine(isWellFormed, NOT_WELL_FORMED);

/** Matches an empty part, "." or "..". */
const ODD_PART = /(?:^|\/)\.{0,2}(?:\/|$)/;
/** A shorter part has at most 255 bytes, whatever its characters. */
const LONG_PART = /[^/]{64}/;

const isPlainRelative = (path: string) =>
  path.length <= 1024 &&
  !path.includes('\\') &&
  !ODD_PART.test(path) &&
  (!LONG_PART.test(path) || path.split('/').every((part) => Buffer.byteLength(part) <= 255));

/** A file with text (UTF-8), base64 or an upload, placed under its path in the work folder. */
export const InputFile = z
  .strictObject({
    path: systemText('path').refine(
      isPlainRelative,
      'must be a relative path without "..", such as "data/sales.csv"',
    ),
    text: z.string().optional(),
    base64: z.base64().optional(),
    upload: z
      .string()
      .regex(/^upload-[0-9a-f-]{36}$/, 'must be the handle of an upload, "upload-…"')
      .optional(),
  })
  .refine(
    ({ text, base64, upload }) => [text, base64, upload].filter((one) => one !== undefined).length === 1,
    'give one of text, base64 and upload',
  );
export type InputFile = z.infer<typeof InputFile>;

const TOO_MUCH_JSON = `must be JSON of at most ${MAX_INPUT_BYTES} bytes, nested at most ${MAX_CONTEXT_DEPTH} deep`;

/** Explains why a value is not JSON of the right size. */
function notJson({ input }: { input?: unknown }): string {
  try {
    JSON.stringify(input);
    return TOO_MUCH_JSON;
  } catch (error) {
    const isBigInt = error instanceof TypeError && error.message.includes('BigInt');
    return isBigInt ? 'must not contain a BigInt: JSON has none; use a number or a text' : TOO_MUCH_JSON;
  }
}

const MODULE_NAME = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}.]{0,199}$/u;

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A call of a function of the code, which then runs as a module and not as a script. */
export const FunctionCall = z.strictObject({
  function: z
    .string()
    .max(200)
    .regex(
      /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]*$/u,
      'must be the name of a function, such as "total"',
    )
    .describe('the name of a function that the code defines'),
  // Not a record, which would silently drop a name such as "__proto__".
  arguments: z
    .custom<Record<string, unknown>>(isPlainObject, 'must be an object')
    .refine(isSmallJson, { error: notJson, abort: true })
    .refine(isFiniteJson, NOT_FINITE)
    .describe('its arguments by name, as JSON; converted to what its type hints ask for'),
  inputSchema: ObjectSchema.refine(isSmallJson, TOO_MUCH_JSON)
    .optional()
    .describe('the JSON Schema that the arguments must fit, before anything of the code is run'),
});
export type FunctionCall = z.infer<typeof FunctionCall>;

/** As workers have them: `pungi worker --label gpu=true`. */
const LABEL = /^[\w.-]{1,60}$/;
const Labels = z
  .record(z.string().regex(LABEL, 'is not a label'), z.string().regex(LABEL, 'must be a text such as "true"'))
  .refine((labels) => Object.keys(labels).length <= 5, 'must be at most 5');

const PACKAGE = /^[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}_][\p{L}\p{N}_]*)*$/u;
const PLAIN_NAME = 'must be a plain file name of at most 255 bytes, such as "report.py"';

const Fields = z.strictObject({
  code: z
    .string()
    .refine(
      (code) => Buffer.byteLength(code) <= MAX_CODE_BYTES,
      `code is larger than ${MAX_CODE_BYTES} bytes`,
    )
    .optional()
    .describe('Python source'),
  file: systemText('file')
    .min(1)
    .max(4096)
    .optional()
    .describe('a Python file below one of the configured roots'),
  filename: z
    .string()
    .regex(/^(?!\.{1,2}$)[^\0/\\]+$/, PLAIN_NAME)
    .refine((name) => Buffer.byteLength(name) <= 255, PLAIN_NAME)
    .refine(isWellFormed, NOT_WELL_FORMED)
    .optional()
    .describe('the name of the script in the work folder, which tracebacks and sys.argv[0] show'),
  package: z
    .string()
    .max(500)
    .regex(PACKAGE, 'must be the name of a package, such as "shop.tools"')
    .optional()
    .describe(
      'the package that the script is a module of: it lies in its folder, and runs as with python -m',
    ),
  argv: z
    .array(systemText('argv'))
    .max(1024)
    .refine(
      (argv) => Buffer.byteLength(argv.join('')) <= MAX_ARGV_BYTES,
      `is larger than ${MAX_ARGV_BYTES} bytes`,
    )
    .optional()
    .describe('sys.argv[1:]'),
  stdin: z.string().refine(isSmall, TOO_LARGE).optional().describe('text on standard input, which then ends'),
  inputData: z
    .array(z.string())
    .max(100_000)
    .refine((lines) => isSmall(lines.join('\n')), TOO_LARGE)
    .optional()
    .describe('lines on standard input, one for each input()'),
  files: z.array(InputFile).max(1000).optional().describe('files placed in the work folder before the run'),
  filesOf: z
    .string()
    .max(100)
    .optional()
    .describe(
      'the handle of a session, or the id of a run: the newest kept version of each of its files is placed, too',
    ),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a variable name'), systemText('value'))
    .optional()
    .describe('environment variables; only names that the server allows'),
  context: z
    .unknown()
    .refine((value) => value === undefined || isSmallJson(value), { error: notJson, abort: true })
    .refine(isFiniteJson, NOT_FINITE)
    .optional()
    .describe('a JSON value that the code sees as the variable `context`'),
  call: FunctionCall.optional().describe('the function to call; its value is then the value of the run'),
  limits: RequestedLimits.optional().describe(
    'other limits than the default ones, up to what the server allows',
  ),
  preload: z
    .array(z.string().regex(MODULE_NAME, 'must be the name of a module, such as "json"'))
    .max(1000)
    .optional()
    .describe('modules that parked workers should import in advance'),
  venvName: z
    .string()
    .max(200)
    .optional()
    .describe('the environment to run in; the default one if not given'),
  packages: z
    .array(z.string())
    .max(200)
    .optional()
    .describe(
      'packages to run with, besides those of a "# /// script" block: an environment is created for them',
    ),
  profile: z
    .string()
    .max(200)
    .optional()
    .describe("the profile of the run; the server's default if not given"),
  capability: z.string().max(200).optional().describe('the purpose of the run, shown in the disclosure'),
  session: z
    .string()
    .max(100)
    .optional()
    .describe(
      '"new" for a session, which keeps variables, imports and files between runs; its handle to go on in it',
    ),
  value: z
    .boolean()
    .optional()
    .describe('false: the value of the last expression is neither described nor shown, as in a plain script'),
  interactive: z
    .boolean()
    .optional()
    .describe("in a session: expressions print their values and figures stay open, as at Python's prompt"),
  retry: z
    .boolean()
    .optional()
    .describe('run it again elsewhere if its worker was lost, even if it may have started there'),
  labels: Labels.optional().describe('what the worker must have, in a cluster, such as {"gpu": "true"}'),
  fresh: z.boolean().optional().describe('run it even if an outcome of the same code is cached'),
});

/** Rules that concern several fields. */
export const TOGETHER: readonly [holds: (request: z.infer<typeof Fields>) => boolean, otherwise: string][] = [
  [({ code, file }) => (code === undefined) !== (file === undefined), 'give either code or file'],
  [
    ({ stdin, inputData }) => stdin === undefined || inputData === undefined,
    'give either stdin or inputData',
  ],
  [
    ({ files = [] }) =>
      files.reduce((sum, file) => sum + (file.text ?? file.base64 ?? '').length, 0) <= MAX_FILES_BYTES,
    `files are larger than ${MAX_FILES_BYTES} bytes together`,
  ],
  [
    ({ venvName, packages }) => venvName === undefined || packages === undefined,
    'name an environment, or packages to create one for',
  ],
  [
    ({ session, call, package: within }) =>
      session === undefined || (call === undefined && within === undefined),
    'a session runs scripts: give no call and no package',
  ],
  [
    ({ session, interactive }) => interactive !== true || session !== undefined,
    'interactive needs a session',
  ],
  [
    ({ session, labels }) => labels === undefined || session === undefined || session === 'new',
    'a session stays on its worker: give labels when it begins',
  ],
];

/** One execution of Python: what to run, with what, within which limits. */
export const RunRequest = TOGETHER.reduce(
  (schema, [holds, otherwise]) => schema.refine(holds, otherwise),
  Fields,
);
export type RunRequest = z.infer<typeof RunRequest>;

export interface OutputLine {
  stream: 'stdout' | 'stderr';
  text: string;
}

/** A file that a run left behind. */
export interface ArtifactContent {
  path: string;
  size: number;
  sha256: string;
  mimeType: string;
  content: Buffer;
}

/** Inputs that lie on this machine. A program or a person names them; no request can. */
export interface LocalInputs {
  /** The folder of the script, whose name is `filename`: the run can read it and import from it, and nothing of it is copied. */
  scriptFolder?: string;
  /** Regular files of any size, copied into the work folder as `path`. */
  files?: readonly { path: string; from: string }[];
  /** A regular file of any size that becomes standard input. */
  stdin?: string;
  /** Standard input that is read while the run goes on, as fast as the run reads it; not in a session. */
  stdinStream?: AsyncIterable<Uint8Array | string>;
}

/** Options that cannot be expressed as data. */
export interface RunOptions {
  local?: LocalInputs;
  /** The caller. The queue is fair between callers, and the audit trail names them. */
  caller?: Partial<Caller>;
  signal?: AbortSignal;
  /** Called for every line of output as it is produced. */
  onLine?: (line: OutputLine) => void;
  /** Called with every chunk of output as it arrives, including what the outcome leaves out. */
  onOutput?: (stream: OutputLine['stream'], data: Buffer) => void;
  /** Called with the files that the run made or changed, after it has ended. */
  onFiles?: (runId: string, files: readonly ArtifactContent[]) => void;
  /** Called with a sentence while the run waits for its environment to be created or installed. */
  onStep?: OnStep;
}
