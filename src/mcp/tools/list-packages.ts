import { z } from 'zod';
import type { Config } from '../../config/schema.js';
import { PackageInfo } from '../../contract/environment.js';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer } from './answer.js';
import { countOf, wordPackage } from './environment-words.js';
import type { Tool } from './tool.js';
import { existingVenv, ONLY_LOOKS } from './venv-arguments.js';

const Listed = z.object({
  venvName: z.string(),
  packages: z.array(PackageInfo),
  total: z.number().int().describe('how many there are, should the list have been cut'),
});

export function listPackages(config: Config): Tool {
  const Arguments = z.strictObject({ venvName: existingVenv(config, 'to look at') });
  return {
    name: 'list_packages',
    title: 'List packages',
    description:
      'List the packages that code in an environment can import beside the standard library, with their versions.',
    annotations: ONLY_LOOKS,
    inputSchema: advertiseArguments(Arguments),
    outputSchema: advertiseResult(Listed),
    answer: (args, call) =>
      answer(Arguments, args, call, async ({ venvName = config.defaultVenvName }, steps) => {
        const packages = await call.pungi.packages(venvName, steps);
        return replyData({ venvName, packages, total: packages.length }, wordList);
      }),
  };
}

function wordList({ venvName, packages, total }: z.infer<typeof Listed>): string {
  const left = total - packages.length;
  return [
    `Environment "${venvName}": ${countOf(total, 'package')}`,
    ...packages.map(wordPackage),
    ...(left > 0 ? [`… and ${left} more`] : []),
  ].join('\n');
}
