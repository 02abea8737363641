import { z } from 'zod';
import type { Config } from '../../config/schema.js';
import { Limits } from '../../contract/limits.js';
import { RunRequest } from '../../contract/run.js';
import type { Profiles } from '../../gate/profiles/profiles.js';
import { describeProfiles } from './describe-profiles.js';
import type { Who } from './tool.js';
import { existingVenv } from './venv-arguments.js';

const { code, file, argv, stdin, inputData, files, env, profile, fresh } = RunRequest.shape;

/** What both execute tools accept beside the code itself. */
const common = (config: Config, profiles: Profiles) => ({
  profile: profile.describe(
    `The profile whose rules hold; without it "${config.defaultProfile}". list_profiles tells the rules.\n${describeProfiles(profiles)}`,
  ),
  venvName: existingVenv(config, 'to run in'),
  inputData: inputData.describe('Lines on standard input, one for each input(). Give either this or stdin.'),
  stdin: stdin.describe('Text on standard input, which then ends. Give either this or inputData.'),
  argv: argv.describe('Command line arguments: sys.argv[1:].'),
  files: files.describe('Files placed in the work folder before the run, each with text or base64.'),
  // What arrives here is JSON already, and not every client can read the recursive schema that says so.
  context: z.unknown().optional().describe('A JSON value that the code sees as the variable `context`.'),
  timeoutMs: Limits.shape.timeoutMs
    .optional()
    .describe(`Wall time in milliseconds; the server allows at most ${config.executionTimeoutMs}.`),
  memoryMb: Limits.shape.memoryMb
    .optional()
    .describe(`Memory in MB; the server allows at most ${config.maxMemoryMb}.`),
  fresh: fresh.describe('Run the code, though the profile keeps the outcome of the same code.'),
  env: env.describe(`Environment variables. Allowed names: ${config.allowedEnv.join(', ') || 'none'}.`),
});

const stdinOrInputData = (args: { stdin?: string | undefined; inputData?: string[] | undefined }) =>
  args.stdin === undefined || args.inputData === undefined;

export const codeArguments = (config: Config, profiles: Profiles) =>
  z
    .strictObject({
      code: code.unwrap().describe('Python source. The value of a last expression is returned.'),
      ...common(config, profiles),
    })
    .refine(stdinOrInputData, 'give either stdin or inputData');

export const fileArguments = (config: Config, profiles: Profiles) =>
  z
    .strictObject({
      filePath: file
        .unwrap()
        .describe(
          `A Python file below one of: ${config.scriptRoots.join(', ') || '(no folder is configured)'}.`,
        ),
      ...common(config, profiles),
    })
    .refine(stdinOrInputData, 'give either stdin or inputData');

type CommonArguments = Omit<z.infer<ReturnType<typeof codeArguments>>, 'code'>;

export function toRunRequest(
  what: { code: string } | { file: string },
  { timeoutMs, memoryMb, context, ...rest }: CommonArguments,
  who: Who,
): RunRequest {
  const limits = {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(memoryMb !== undefined && { memoryMb }),
  };
  const given = context === undefined ? {} : { context: context as RunRequest['context'] };
  return { ...what, ...rest, ...given, limits, ...who };
}
