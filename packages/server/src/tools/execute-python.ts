import type { Config } from '@pungi/core/config';
import { Limits, Outcome, RunRequest, Value } from '@pungi/core/contract';
import { ceilingsOf, type Profiles } from '@pungi/core/gate';
import { z } from 'zod';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { describeProfiles, describeSandbox, executeAnnotations } from './descriptions.js';
import { answerRun, type Tool } from './tool.js';
import { existingVenv } from './venv-arguments.js';

export function executePython(config: Config, profiles: Profiles): Tool {
  const Arguments = codeArguments(config, profiles);
  return {
    name: 'execute_python',
    title: 'Run Python code',
    description: `Run Python code and return its output and the value of its last expression, as in a notebook.\n${describeSandbox(config, profiles)}`,
    annotations: executeAnnotations(config),
    inputSchema: advertiseArguments(Arguments),
    outputSchema: OUTCOME,
    answer: (args, call) =>
      answerRun(Arguments, args, call, ({ code, ...rest }) => toRunRequest({ code }, rest)),
  };
}

/** The arguments of a tool that refuses every call. */
const REFUSED_ARGUMENTS = z.strictObject({ filePath: z.string().describe('Its path.') });

export function executePythonFile(config: Config): Tool {
  const Arguments = fileArguments(config);
  const isOpen = config.scriptRoots.length > 0;
  const about = isOpen
    ? 'It runs as in execute_python: same sandbox, packages, limits and errors. For your own code, use that.'
    : 'No folder is configured (SCRIPT_ROOTS), so every call is refused: use execute_python.';
  return {
    name: 'execute_python_file',
    title: 'Run a Python file',
    description: `Run a Python file on this server as a script. ${about}`,
    annotations: executeAnnotations(config),
    inputSchema: advertiseArguments(isOpen ? Arguments : REFUSED_ARGUMENTS),
    outputSchema: isOpen ? OUTCOME : REFUSED_OUTCOME,
    answer: (args, call) =>
      answerRun(Arguments, args, call, ({ filePath, ...rest }) => toRunRequest({ file: filePath }, rest)),
  };
}

const { code, file, argv, stdin, inputData, files, env, profile, fresh, session } = RunRequest.shape;

/** Defaults are in the tool's description; a larger value is lowered to the maximum. */
function limitArguments(config: Config) {
  const { timeoutMs, memoryMb, diskMb, processes } = ceilingsOf(config);
  return {
    timeoutMs: Limits.shape.timeoutMs.optional().describe(`Wall time in ms, at most ${timeoutMs}.`),
    memoryMb: Limits.shape.memoryMb.optional().describe(`At most ${memoryMb}.`),
    diskMb: Limits.shape.diskMb.optional().describe(`At most ${diskMb}.`),
    processes: Limits.shape.processes.optional().describe(`And threads, at most ${processes}.`),
  };
}

/** Arguments that both execute tools accept in addition to the code. */
const common = (config: Config) => ({
  profile: profile.describe(
    `The profile to run under, default "${config.defaultProfile}": see list_profiles.`,
  ),
  venvName: existingVenv(config, 'to run in'),
  session: session.describe(
    '"new": keep variables, imports and files for the next calls; the reply has the handle to pass here.',
  ),
  inputData: inputData.describe('Lines on standard input, one for each input().'),
  stdin: stdin.describe('Text on standard input, instead of inputData.'),
  argv: argv.describe('Command line arguments: sys.argv[1:].'),
  files: files.describe('Files for the work folder: a relative path, and text or base64.'),
  // Any JSON is accepted. The listing says object: models and clients handle a parameter of any type badly.
  context: z
    .unknown()
    .optional()
    .meta({ type: 'object', description: 'JSON data, available to the code as the variable `context`.' }),
  ...limitArguments(config),
  fresh: fresh.describe('Run it even if the profile has a cached outcome.'),
  env: env.describe(`Environment variables. Allowed names: ${config.allowedEnv.join(', ') || 'none'}.`),
});

const stdinOrInputData = (args: { stdin?: string | undefined; inputData?: string[] | undefined }) =>
  args.stdin === undefined || args.inputData === undefined;

const codeArguments = (config: Config, profiles: Profiles) =>
  z
    .strictObject({
      code: code.unwrap().describe('Python source.'),
      ...common(config),
      profile: profile.describe(
        `The profile to run under, default "${config.defaultProfile}": see list_profiles.\n${describeProfiles(profiles)}`,
      ),
    })
    .refine(stdinOrInputData, 'give either stdin or inputData');

const fileArguments = (config: Config) =>
  z
    .strictObject({
      filePath: file.unwrap().describe(`Its path, below one of: ${config.scriptRoots.join(', ')}.`),
      ...common(config),
    })
    .refine(stdinOrInputData, 'give either stdin or inputData');

type CommonArguments = Omit<z.infer<ReturnType<typeof codeArguments>>, 'code'>;

function toRunRequest(
  what: { code: string } | { file: string },
  { timeoutMs, memoryMb, diskMb, processes, context, ...rest }: CommonArguments,
): RunRequest {
  const limits = {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(memoryMb !== undefined && { memoryMb }),
    ...(diskMb !== undefined && { diskMb }),
    ...(processes !== undefined && { processes }),
  };
  const given = context === undefined ? {} : { context: context as RunRequest['context'] };
  return { ...what, ...rest, ...given, limits };
}

/** Pictures travel once, as content blocks. */
const ADVERTISED = Outcome.extend({ value: Value.omit({ content: true }).nullable() });

/** Fields that few clients read; the documentation describes them. */
const RARE = ['isolation', 'cached', 'disclosure'];

export const OUTCOME = advertiseResult(ADVERTISED, RARE);

/** The outcome of a tool that refuses every call: only the reason. */
const REFUSED_OUTCOME = advertiseResult(Outcome.pick({ verdict: true }), ['verdict']);
