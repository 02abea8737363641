import { z } from 'zod';
import type { Config } from '../../config/schema.js';
import { PackageReport } from '../../contract/environment.js';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer } from './answer.js';
import { wordReport } from './environment-words.js';
import type { Tool } from './tool.js';
import { existingVenv, packages } from './venv-arguments.js';

export function uninstallPackages(config: Config): Tool {
  const Arguments = z.strictObject({
    packages: packages().describe('Names without versions, such as "pandas".'),
    venvName: existingVenv(config, 'to remove from'),
  });
  return {
    name: 'uninstall_packages',
    title: 'Uninstall packages',
    description:
      'Remove packages from an environment, with what only they needed. ' +
      'It is refused where a package that stays needs one of them: name that one as well.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    inputSchema: advertiseArguments(Arguments),
    outputSchema: advertiseResult(PackageReport, ['packages', 'added', 'removed']),
    answer: (args, call) =>
      answer(Arguments, args, call, async (wanted, steps) => {
        const { environments } = call.pungi;
        return replyData(await environments.uninstall(wanted.venvName, wanted.packages, steps), wordReport);
      }),
  };
}
