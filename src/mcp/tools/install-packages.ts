import { z } from 'zod';
import type { Config } from '../../config/schema.js';
import { PackageReport } from '../../contract/environment.js';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer } from './answer.js';
import { describeInstalling, describePackages } from './describe-environments.js';
import { wordReport } from './environment-words.js';
import type { Tool } from './tool.js';
import { CHANGES_PACKAGES, existingVenv, packages } from './venv-arguments.js';

export function installPackages(config: Config): Tool {
  const Arguments = z.strictObject({
    packages: packages().describe(describePackages(config)),
    venvName: existingVenv(config, 'to install into'),
    upgrade: z
      .boolean()
      .optional()
      .describe('Take the newest versions; without it, what is there stays if it will do.'),
  });
  return {
    name: 'install_packages',
    title: 'Install packages',
    description:
      'Install Python packages and what they depend on into an environment; the next run can import them. ' +
      'A package may have another name than its module: cv2 is in opencv-python, sklearn in scikit-learn.\n' +
      describeInstalling(config),
    annotations: CHANGES_PACKAGES,
    inputSchema: advertiseArguments(Arguments),
    outputSchema: advertiseResult(PackageReport, ['added', 'removed']),
    answer: (args, call) =>
      answer(Arguments, args, call, async (wanted, steps) => {
        const { environments } = call.pungi;
        const { venvName, packages: asked, upgrade } = wanted;
        return replyData(await environments.install(venvName, asked, { ...steps, upgrade }), wordReport);
      }),
  };
}
