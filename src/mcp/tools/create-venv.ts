import { z } from 'zod';
import type { Config } from '../../config/schema.js';
import { EnvironmentInfo, PackageReport } from '../../contract/environment.js';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer } from './answer.js';
import { describeInstalling } from './describe-environments.js';
import { wordEnvironment, wordReport } from './environment-words.js';
import type { Tool } from './tool.js';
import { description, newVenv, packages } from './venv-arguments.js';

const Created = z.object({
  environment: EnvironmentInfo,
  report: PackageReport.nullable().describe('what was installed; null where no packages were asked for'),
});

export function createVenv(config: Config): Tool {
  const Arguments = z.strictObject({
    venvName: newVenv(),
    description: description().optional(),
    pythonVersion: z
      .string()
      .optional()
      .describe(
        'A version of Python that the server has or can get, such as "3.12"; without it the one that code runs with by default.',
      ),
    packages: packages(config).optional(),
  });
  return {
    name: 'create_venv',
    title: 'Create an environment',
    description:
      'Create a named Python environment, kept until it is deleted, and install packages into it. ' +
      'It starts empty, with the standard library only; run code in it with execute_python and venvName. ' +
      `A name that exists is refused with ENVIRONMENT_EXISTS: add to that one with install_packages.\n${describeInstalling(config)}`,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    inputSchema: advertiseArguments(Arguments),
    outputSchema: advertiseResult(Created),
    answer: (args, call) =>
      answer(Arguments, args, call, async (wanted, steps) =>
        replyData(await call.pungi.environments.create(wanted, steps), wordCreated),
      ),
  };
}

const wordCreated = ({ environment, report }: z.infer<typeof Created>) =>
  [`Created: ${wordEnvironment(environment)}`, ...(report === null ? [] : [wordReport(report)])].join('\n');
