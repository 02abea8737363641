import { z } from 'zod';
import type { Config } from '../../config/schema.js';
import { PackageReport } from '../../contract/environment.js';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer } from './answer.js';
import { describeInstalling } from './describe-environments.js';
import { wordReport } from './environment-words.js';
import type { Tool } from './tool.js';
import { CHANGES_PACKAGES, existingVenv, packages } from './venv-arguments.js';

export function installPackages(config: Config): Tool {
  const Arguments = z.strictObject({
    packages: packages(config),
    venvName: existingVenv(config, 'to install into'),
    upgrade: z
      .boolean()
      .optional()
      .describe('Take the newest versions of these packages; without it, what is there stays if it will do.'),
  });
  return {
    name: 'install_packages',
    title: 'Install packages',
    description:
      'Install Python packages and what they depend on into an environment, together with what was asked for before. ' +
      'The next run can import them; runs that are under way keep what they have. ' +
      'The name of a package is not always that of its module: cv2 is in opencv-python, sklearn in scikit-learn.\n' +
      describeInstalling(config),
    annotations: CHANGES_PACKAGES,
    inputSchema: advertiseArguments(Arguments),
    outputSchema: advertiseResult(PackageReport),
    answer: (args, call) =>
      answer(Arguments, args, call, async (wanted, steps) => {
        const { environments } = call.pungi;
        const { venvName, packages: asked, upgrade } = wanted;
        return replyData(await environments.install(venvName, asked, { ...steps, upgrade }), wordReport);
      }),
  };
}
