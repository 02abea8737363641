import type { Config } from '@pungi/core/config';
import { PackageInfo, PackageReport } from '@pungi/core/contract';
import { z } from 'zod';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer, type Tool } from './tool.js';
import {
  CHANGES_PACKAGES,
  countOf,
  describeInstalling,
  describePackages,
  existingVenv,
  formatPackage,
  formatReport,
  packages,
  READ_ONLY,
} from './venv-arguments.js';

const Listed = z.object({
  venvName: z.string(),
  packages: z.array(PackageInfo),
  total: z.number().int().describe('the number of packages, also if the list is cut'),
});

export function listPackages(config: Config): Tool {
  const Arguments = z.strictObject({ venvName: existingVenv(config, 'to inspect') });
  return {
    name: 'list_packages',
    title: 'List packages',
    description:
      'List the packages, with versions, that code in an environment can import besides the standard library.',
    annotations: READ_ONLY,
    inputSchema: advertiseArguments(Arguments),
    outputSchema: advertiseResult(Listed),
    answer: (args, call) =>
      answer(Arguments, args, call, async ({ venvName = config.defaultVenvName }, steps) => {
        const packages = await call.pungi.packages(venvName, steps);
        return replyData({ venvName, packages, total: packages.length }, formatList);
      }),
  };
}

function formatList({ venvName, packages, total }: z.infer<typeof Listed>): string {
  const left = total - packages.length;
  return [
    `Environment "${venvName}": ${countOf(total, 'package')}`,
    ...packages.map(formatPackage),
    ...(left > 0 ? [`… and ${left} more`] : []),
  ].join('\n');
}

export function installPackages(config: Config): Tool {
  const Arguments = z.strictObject({
    packages: packages().describe(describePackages(config)),
    venvName: existingVenv(config, 'to install into'),
    upgrade: z
      .boolean()
      .optional()
      .describe('Take the newest versions; default: keep what satisfies the request.'),
  });
  return {
    name: 'install_packages',
    title: 'Install packages',
    description:
      'Install Python packages and their dependencies into an environment; the next run can import them. ' +
      'A package name can differ from its module name: cv2 is in opencv-python, sklearn in scikit-learn.\n' +
      describeInstalling(config),
    annotations: CHANGES_PACKAGES,
    inputSchema: advertiseArguments(Arguments),
    outputSchema: advertiseResult(PackageReport, ['added', 'removed']),
    answer: (args, call) =>
      answer(Arguments, args, call, async (wanted, steps) => {
        const { environments } = call.pungi;
        const { venvName, packages: asked, upgrade } = wanted;
        return replyData(await environments.install(venvName, asked, { ...steps, upgrade }), formatReport);
      }),
  };
}

export function uninstallPackages(config: Config): Tool {
  const Arguments = z.strictObject({
    packages: packages().describe('Names without versions, such as "pandas".'),
    venvName: existingVenv(config, 'to remove from'),
  });
  return {
    name: 'uninstall_packages',
    title: 'Uninstall packages',
    description:
      'Remove packages from an environment, and the dependencies only they needed. ' +
      'Refused if a remaining package needs one of them: name that one as well.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    inputSchema: advertiseArguments(Arguments),
    outputSchema: advertiseResult(PackageReport, ['packages', 'added', 'removed']),
    answer: (args, call) =>
      answer(Arguments, args, call, async (wanted, steps) => {
        const { environments } = call.pungi;
        return replyData(await environments.uninstall(wanted.venvName, wanted.packages, steps), formatReport);
      }),
  };
}
