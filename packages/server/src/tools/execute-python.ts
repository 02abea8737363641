import type { CallToolResult } from '@modelcontextprotocol/server';
import { type Config, isServed } from '@pungi/core/config';
import { Limits, RunRequest } from '@pungi/core/contract';
import { backgroundTimeoutMs, ceilingsOf, type Profiles, parsePresent } from '@pungi/core/gate';
import { z } from 'zod';
import { advertiseArguments } from './advertise.js';
import { startInBackground } from './background.js';
import { describeProfiles, describeSandbox, executeAnnotations } from './descriptions.js';
import { answer, type Call, replyDetail, replyRun, runWithProgress, type Steps, type Tool } from './tool.js';
import { existingVenv } from './venv-arguments.js';

export function executePython(config: Config, profiles: Profiles): Tool {
  const Arguments = codeArguments(config, profiles);
  return {
    name: 'execute_python',
    title: 'Run Python code',
    description: `Run Python code and return its output and the value of its last expression, as in a notebook.\n${describeSandbox(config, profiles)}`,
    annotations: executeAnnotations(config),
    inputSchema: advertiseArguments(Arguments, hiddenIn(config)),
    outputSchema: RUN_RESULT,
    answer: (args, call) =>
      answerRun(Arguments, 'code', args, call, ({ code, ...rest }) => toRunRequest({ code }, rest)),
  };
}

/** Offered if there are folders to run files from. */
export function executePythonFile(config: Config): Tool {
  const Arguments = fileArguments(config);
  return {
    name: 'execute_python_file',
    title: 'Run a Python file',
    description:
      'Run a Python file of this server as a script, as execute_python runs code, which is for your own code.',
    annotations: executeAnnotations(config),
    inputSchema: advertiseArguments(Arguments, hiddenIn(config)),
    outputSchema: RUN_RESULT,
    answer: (args, call) =>
      answerRun(Arguments, 'filePath', args, call, ({ filePath, ...rest }) =>
        toRunRequest({ file: filePath }, rest),
      ),
  };
}

/** Checks the arguments, runs the code or starts it in the background, and formats the outcome. */
function answerRun<Schema extends z.ZodObject & z.ZodType<Partial<CommonArguments>>>(
  schema: Schema,
  required: keyof z.infer<Schema>,
  args: unknown,
  call: Call,
  toRequest: (args: Omit<z.infer<Schema>, 'replyDetail' | 'background'>) => RunRequest,
): Promise<CallToolResult> {
  const act = async ({ replyDetail: detail, background, ...parsed }: z.infer<Schema>, steps: Steps) =>
    background
      ? startInBackground(toRequest(parsed), call, detail)
      : replyRun(await runWithProgress(toRequest(parsed), call, steps), call, { detail });
  const holds = (parsed: z.infer<Schema>) => required in parsed && stdinOrInputData(parsed);
  return answer(schema, args, call, act, { quick: (raw) => parsePresent(raw, schema, holds) });
}

const { code, file, argv, stdin, inputData, files, filesOf, env, profile, fresh, session, retry, labels } =
  RunRequest.shape;

/** Defaults are in the tool's description; a larger value is lowered to the maximum. */
function limitArguments(config: Config) {
  const { timeoutMs, memoryMb, diskMb, processes } = ceilingsOf(config);
  return {
    timeoutMs: Limits.shape.timeoutMs
      .optional()
      .describe(`≤ ${timeoutMs}, in background ${backgroundTimeoutMs(config)}`),
    memoryMb: Limits.shape.memoryMb.optional().describe(`≤ ${memoryMb}`),
    diskMb: Limits.shape.diskMb.optional().describe(`≤ ${diskMb}`),
    processes: Limits.shape.processes.optional().describe(`≤ ${processes}`),
  };
}

/** Arguments that both execute tools accept in addition to the code. */
const common = (config: Config, profiles: string) => ({
  profile: profile.describe(`Default "${config.defaultProfile}": see list_profiles.${profiles}`),
  venvName: existingVenv(config),
  session: session.describe('"new", or its handle: keeps variables, imports and files.'),
  background: z.boolean().optional().describe('For get_run'),
  inputData: inputData.describe('Lines for input()'),
  stdin: stdin.describe('Or all of stdin'),
  argv: argv.describe('sys.argv[1:]'),
  files: files.describe('For the work folder'),
  filesOf,
  // Any JSON is accepted. The listing says object: models and clients handle a parameter of any type badly.
  context: z.unknown().optional().meta({ type: 'object', description: 'The variable `context`.' }),
  ...limitArguments(config),
  labels: labels.describe('The worker must have them, such as {"gpu": "true"}.'),
  retry: retry.describe('Run again if its worker is lost, though it may have started.'),
  fresh,
  replyDetail,
  env: env.describe(`Environment variables: ${config.allowedEnv.join(', ')}.`),
});

/**
 * A reply from a cache says how to get a fresh one, that of an ended session how to take its files along, and `replyDetail` is for programs. Where no names are allowed, every call
 * with variables is refused.
 */
const hiddenIn = (config: Config) => [
  'fresh',
  'filesOf',
  'processes',
  'replyDetail',
  ...(config.cluster === undefined ? ['labels', 'retry'] : []),
  ...(config.allowedEnv.length > 0 ? [] : ['env']),
  ...(isServed(config, 'sessions') ? [] : ['session']),
];

const stdinOrInputData = (args: { stdin?: string | undefined; inputData?: string[] | undefined }) =>
  args.stdin === undefined || args.inputData === undefined;

const codeArguments = (config: Config, profiles: Profiles) =>
  z
    .strictObject({
      code: code.unwrap().describe('Python'),
      ...common(config, `\n${describeProfiles(profiles, config.defaultProfile)}`),
    })
    .refine(stdinOrInputData, 'give either stdin or inputData');

const fileArguments = (config: Config) =>
  z
    .strictObject({
      filePath: file.unwrap().describe(`Below one of: ${config.scriptRoots.join(', ')}.`),
      ...common(config, ''),
    })
    .refine(stdinOrInputData, 'give either stdin or inputData');

type CommonArguments = Omit<z.infer<ReturnType<typeof codeArguments>>, 'code'>;

function toRunRequest(
  what: { code: string } | { file: string },
  {
    timeoutMs,
    memoryMb,
    diskMb,
    processes,
    context,
    ...rest
  }: Omit<CommonArguments, 'replyDetail' | 'background'>,
): RunRequest {
  const limits = {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(memoryMb !== undefined && { memoryMb }),
    ...(diskMb !== undefined && { diskMb }),
    ...(processes !== undefined && { processes }),
  };
  const given = context === undefined ? {} : { context: context as RunRequest['context'] };
  return { ...what, ...rest, ...given, ...(Object.keys(limits).length > 0 && { limits }) };
}

/** Both forms of a reply: the short one has the output as a text, the whole outcome as an object. */
export const RUN_RESULT = {
  type: 'object' as const,
  properties: { error: { type: 'object' }, value: {}, stdout: { type: ['string', 'object'] } },
};
