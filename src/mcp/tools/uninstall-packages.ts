import { z } from 'zod';
import type { Config } from '../../config/schema.js';
import { PackageReport } from '../../contract/environment.js';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer } from './answer.js';
import { wordReport } from './environment-words.js';
import type { Tool } from './tool.js';
import { existingVenv } from './venv-arguments.js';

export function uninstallPackages(config: Config): Tool {
  const Arguments = z.strictObject({
    packages: z
      .array(z.string())
      .min(1, 'name at least one package')
      .max(200)
      .describe('Names of packages, without versions, such as "pandas".'),
    venvName: existingVenv(config, 'to remove from'),
  });
  return {
    name: 'uninstall_packages',
    title: 'Uninstall packages',
    description:
      'Remove packages from an environment. What they brought with them and nothing else needs goes along. ' +
      'It is refused where a package that stays needs one of them: name that one as well. ' +
      'Packages that belong to the interpreter itself cannot be removed.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    inputSchema: advertiseArguments(Arguments),
    outputSchema: advertiseResult(PackageReport),
    answer: (args, call) =>
      answer(Arguments, args, call, async (wanted, steps) => {
        const { environments } = call.pungi;
        return replyData(await environments.uninstall(wanted.venvName, wanted.packages, steps), wordReport);
      }),
  };
}
