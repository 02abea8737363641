import { type Config, toolsFolder } from '@pungi/core/config';
import { RunRequest, WRAP_MODES } from '@pungi/core/contract';
import { z } from 'zod';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from '../tools/advertise.js';
import { answer, type Tool } from '../tools/tool.js';
import { formatInfo, listWrapped, WrappedInfo, wrappedInfo } from './list-wrapped.js';

/** Tools that change what the server offers are only there where its owner leaves that to clients. */
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
      'What becomes a tool: functions, the command line (script), both, or what fits (auto, the default).',
    ),
  functions: z
    .array(z.string())
    .max(1000)
    .optional()
    .describe('The functions to offer; without it all public ones.'),
  environment: venvName.describe('The environment that its calls run in; without it the default one.'),
  profile: profile.describe("The profile that its calls run under; without it the server's default."),
  replace: z
    .boolean()
    .optional()
    .describe('true: take the place of the script that wrap_script wrapped under this name.'),
};

/** Exactly one of the two ways to say which script. */
const Arguments = z
  .strictObject({
    filename: z
      .string()
      .max(110)
      .optional()
      .describe('With code: the name of the script, such as "report.py".'),
    code: code.describe('The text of the script. It is read, and not run, to find its tools.'),
    file: file.describe('Instead of code: a Python file of this server, below one of its script roots.'),
    ...choice,
  })
  .refine(
    (args) => (args.file === undefined) === (args.code !== undefined && args.filename !== undefined),
    'give either filename and code, or file',
  );

const wrapScript = ({ scriptRoots }: Config): Tool => ({
  name: 'wrap_script',
  title: 'Make tools of a script',
  description:
    'Make tools of a Python script: each public function becomes one, with a schema from its type hints and docstring, and ' +
    'so does a command line of argparse, click or typer. The tools are offered to all clients of this server at once, and stay. ' +
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
  name: z.string().max(200).describe('The name of the script, as list_wrapped tells it.'),
});

const Unwrapped = z.object({ name: z.string(), unwrapped: z.literal(true) });

const unwrapScript = (): Tool => ({
  name: 'unwrap_script',
  title: 'Take back the tools of a script',
  description:
    'Offer the tools of a script no more that wrap_script wrapped. One that was given as text is deleted from the tools ' +
    'folder; one that lies elsewhere on the server stays where it is. What the owner of the server wrapped is not touched.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: advertiseArguments(UnwrapScriptArguments),
  outputSchema: advertiseResult(Unwrapped),
  answer: (args, call) =>
    answer(UnwrapScriptArguments, args, call, async ({ name }, { caller }) => {
      await call.wrapping.unwrap(name, { caller });
      return replyData(
        { name, unwrapped: true as const },
        () => `The tools of "${name}" are offered no more.`,
      );
    }),
});
