import type { Config } from '@pungi/core/config';
import { PackageInfo } from '@pungi/core/contract';
import { z } from 'zod';
import { advertiseArguments, CHANGES_PACKAGES, READ_ONLY, REPLACES } from './advertise.js';
import { answer, reply, type Tool } from './tool.js';
import {
  countOf,
  describeInstalling,
  describePackages,
  formatPackage,
  formatReport,
  otherVenv,
  packages,
} from './venv-arguments.js';

const Listed = z.object({
  venvName: z.string(),
  packages: z.array(PackageInfo),
  total: z.number().int().describe('the number of packages, also if the list is cut'),
});

export function listPackages(config: Config): Tool {
  const Arguments = z.strictObject({ venvName: otherVenv() });
  return {
    name: 'list_packages',
    title: 'List packages',
    description: 'List the packages of an environment.',
    annotations: READ_ONLY,
    inputSchema: advertiseArguments(Arguments),
    answer: (args, call) =>
      answer(Arguments, args, call, async ({ venvName = config.defaultVenvName }, steps) => {
        const packages = await call.pungi.packages(venvName, steps);
        return reply(call, { venvName, packages, total: packages.length }, formatList);
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
    venvName: otherVenv(),
    upgrade: z.boolean().optional().describe('To newest versions'),
  });
  return {
    name: 'install_packages',
    title: 'Install packages',
    description:
      'Install packages and their dependencies into an environment, by package name: opencv-python, not cv2. ' +
      describeInstalling(config),
    annotations: CHANGES_PACKAGES,
    inputSchema: advertiseArguments(Arguments),
    answer: (args, call) =>
      answer(Arguments, args, call, async (wanted, steps) => {
        const { environments } = call.pungi;
        const { venvName, packages: asked, upgrade } = wanted;
        return reply(call, await environments.install(venvName, asked, { ...steps, upgrade }), formatReport);
      }),
  };
}

export function uninstallPackages(): Tool {
  const Arguments = z.strictObject({
    packages: packages(),
    venvName: otherVenv(),
  });
  return {
    name: 'uninstall_packages',
    title: 'Uninstall packages',
    description: 'Remove packages, and dependencies that only they needed, from an environment.',
    annotations: REPLACES,
    inputSchema: advertiseArguments(Arguments),
    answer: (args, call) =>
      answer(Arguments, args, call, async (wanted, steps) => {
        const { environments } = call.pungi;
        return reply(
          call,
          await environments.uninstall(wanted.venvName, wanted.packages, steps),
          formatReport,
        );
      }),
  };
}
