import { z } from 'zod';
import { EnvironmentInfo, PackageReport } from '../../contract/environment.js';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer } from './answer.js';
import { wordEnvironment, wordReport } from './environment-words.js';
import type { Tool } from './tool.js';
import { description, newVenv, packages } from './venv-arguments.js';

const Created = z.object({
  environment: EnvironmentInfo,
  report: PackageReport.nullable().describe('what was installed; null where no packages were asked for'),
});

const Arguments = z.strictObject({
  venvName: newVenv(),
  description: description().optional(),
  pythonVersion: z
    .string()
    .optional()
    .describe('Such as "3.12"; by default the version that code runs with anyway.'),
  packages: packages().optional().describe('What to install, as for install_packages.'),
});

export const createVenv = (): Tool => ({
  name: 'create_venv',
  title: 'Create an environment',
  description:
    'Create a named Python environment, kept until it is deleted, and install packages into it as install_packages does. ' +
    'It starts with the standard library only; run code in it with execute_python and venvName. ' +
    'A name that exists is refused: add to that one with install_packages.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  inputSchema: advertiseArguments(Arguments),
  // list_venvs and install_packages show what they hold.
  outputSchema: advertiseResult(Created, ['environment', 'report']),
  answer: (args, call) =>
    answer(Arguments, args, call, async (wanted, steps) =>
      replyData(await call.pungi.environments.create(wanted, steps), wordCreated),
    ),
});

const wordCreated = ({ environment, report }: z.infer<typeof Created>) =>
  [`Created: ${wordEnvironment(environment)}`, ...(report === null ? [] : [wordReport(report)])].join('\n');
