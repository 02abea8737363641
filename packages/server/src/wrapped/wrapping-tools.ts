import { type Config, toolsFolder } from '@pungi/core/config';
import { RunRequest, WRAP_MODES } from '@pungi/core/contract';
import { z } from 'zod';
import { advertiseArguments, REPLACES } from '../tools/advertise.js';
import { answer, reply, type Tool } from '../tools/tool.js';
import { formatInfo, listWrapped, wrappedInfo } from './list-wrapped.js';

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
  mode: z.enum(WRAP_MODES).optional().describe('What becomes a tool; auto: whichever fits.'),
  functions: z.array(z.string()).max(1000).optional().describe('Only these functions'),
  environment: venvName.describe('Of its calls'),
  profile: profile.describe('Of its calls'),
  replace: z.boolean().optional().describe('Replace the script of this name.'),
};

/** A script is given either as filename and code, or as file. */
const Arguments = z
  .strictObject({
    filename: z.string().max(110).optional().describe('Its name, such as "report.py".'),
    code: code.describe('Its text'),
    file: file.describe('Or a file of this server, below its script roots.'),
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
    'Turn a Python script into tools, for all clients of this server: its public functions, or its argparse, click or ' +
    'typer command line. Give the script itself (filename and code)' +
    (scriptRoots.length > 0 ? `, or a file of this server below: ${scriptRoots.join(', ')}.` : '.'),
  annotations: REPLACES,
  inputSchema: advertiseArguments(Arguments),
  answer: (args, call) =>
    answer(Arguments, args, call, async ({ filename, code: text, file: path, ...wanted }, { caller }) => {
      const script = path === undefined ? { filename: filename!, code: text! } : { file: path };
      const wrapped = await call.wrapping.wrap({ ...script, ...wanted }, { caller });
      return reply(call, wrappedInfo(wrapped, call.wrapping.scripts), formatInfo);
    }),
});

const UnwrapScriptArguments = z.strictObject({
  name: z.string().max(200).describe('As list_wrapped shows it.'),
});

const unwrapScript = (): Tool => ({
  name: 'unwrap_script',
  title: 'Stop offering a script',
  description: 'Stop offering a script added with wrap_script, and delete it from the tools folder.',
  annotations: REPLACES,
  inputSchema: advertiseArguments(UnwrapScriptArguments),
  answer: (args, call) =>
    answer(UnwrapScriptArguments, args, call, async ({ name }, { caller }) => {
      await call.wrapping.unwrap(name, { caller });
      return reply(
        call,
        { name, unwrapped: true as const },
        () => `The tools of "${name}" are no longer offered.`,
      );
    }),
});
