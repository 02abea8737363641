import { type Config, toolsFolder } from '@pungi/core/config';
import { RunRequest, WRAP_MODES } from '@pungi/core/contract';
import { z } from 'zod';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from '../tools/advertise.js';
import { answer, type Tool } from '../tools/tool.js';
import { formatInfo, listWrapped, WrappedInfo, wrappedInfo } from './list-wrapped.js';

/**
 * The tools that list and change wrapped scripts. Clients may change them only if the server's owner allows
 * it.
 */
export function wrappingTools(config: Config): Tool[] {
  if (toolsFolder(config) === null) return [];
  return [listWrapped(), ...(config.wrapTools ? [wrapScript(config), unwrapScript()] : [])];
}

const { code, file, venvName, profile } = RunRequest.shape;

const choice = {
  mode: z
    .enum(WRAP_MODES)
    .optional()
    .describe(
      'What becomes a tool: functions, the command line (script), both, or whichever fits (auto, the default).',
    ),
  functions: z
    .array(z.string())
    .max(1000)
    .optional()
    .describe('The functions to offer; default: all public ones.'),
  environment: venvName.describe('The environment of its calls; default: the default one.'),
  profile: profile.describe("The profile of its calls; default: the server's."),
  replace: z
    .boolean()
    .optional()
    .describe('true: replace the script that wrap_script added under this name.'),
};

/** A script is given either as filename and code, or as file. */
const Arguments = z
  .strictObject({
    filename: z
      .string()
      .max(110)
      .optional()
      .describe('With code: the name of the script, such as "report.py".'),
    code: code.describe('The text of the script. It is loaded in the sandbox to find its tools.'),
    file: file.describe('Instead of code: a Python file of this server, below one of its script roots.'),
    ...choice,
  })
  .refine(
    (args) => (args.file === undefined) === (args.code !== undefined && args.filename !== undefined),
    'give either filename and code, or file',
  );

const wrapScript = ({ scriptRoots }: Config): Tool => ({
  name: 'wrap_script',
  title: 'Turn a script into tools',
  description:
    'Turn a Python script into tools: each public function becomes one, with a schema from its type hints and docstring, and ' +
    'so does an argparse, click or typer command line. All clients of this server get the tools at once, and keep them. ' +
    'Give the script itself (filename and code)' +
    (scriptRoots.length > 0 ? `, or a file of this server below: ${scriptRoots.join(', ')}.` : '.'),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: advertiseArguments(Arguments),
  outputSchema: advertiseResult(WrappedInfo),
  answer: (args, call) =>
    answer(Arguments, args, call, async ({ filename, code: text, file: path, ...wanted }, { caller }) => {
      const script = path === undefined ? { filename: filename!, code: text! } : { file: path };
      const wrapped = await call.wrapping.wrap({ ...script, ...wanted }, { caller });
      return replyData(wrappedInfo(wrapped, call.wrapping.scripts), formatInfo);
    }),
});

const UnwrapScriptArguments = z.strictObject({
  name: z.string().max(200).describe('The name of the script, as list_wrapped shows it.'),
});

const Unwrapped = z.object({ name: z.string(), unwrapped: z.literal(true) });

const unwrapScript = (): Tool => ({
  name: 'unwrap_script',
  title: 'Stop offering a script',
  description:
    'Stop offering a script added with wrap_script. A script given as text is deleted from the tools folder; a file elsewhere ' +
    'on the server is kept. Scripts that the owner of the server wrapped are not affected.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: advertiseArguments(UnwrapScriptArguments),
  outputSchema: advertiseResult(Unwrapped),
  answer: (args, call) =>
    answer(UnwrapScriptArguments, args, call, async ({ name }, { caller }) => {
      await call.wrapping.unwrap(name, { caller });
      return replyData(
        { name, unwrapped: true as const },
        () => `The tools of "${name}" are no longer offered.`,
      );
    }),
});
