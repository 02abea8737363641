import type { Config } from '@pungi/core/config';
import { EnvironmentInfo, PackageReport } from '@pungi/core/contract';
import { z } from 'zod';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer, type Tool } from './tool.js';
import {
  countOf,
  description,
  formatEnvironment,
  formatReport,
  namedVenv,
  newVenv,
  packages,
  READ_ONLY,
} from './venv-arguments.js';

const Arguments = z.strictObject({});

const Listed = z.object({
  environments: z.array(EnvironmentInfo).describe('the default one, and created ones'),
  inlineEnvironments: z.array(EnvironmentInfo).describe('created for inline dependencies of scripts'),
});

export const listVenvs = (): Tool => ({
  name: 'list_venvs',
  title: 'List environments',
  description:
    'List the Python environments with their Python version, number of packages, size, last use and description. ' +
    'Other tools take their names as venvName.',
  annotations: READ_ONLY,
  inputSchema: advertiseArguments(Arguments),
  outputSchema: advertiseResult(Listed, ['inlineEnvironments']),
  answer: (args, call) =>
    answer(Arguments, args, call, async () => {
      const all = await call.pungi.environments.list();
      const listed = {
        environments: all.filter(({ isInline }) => !isInline),
        inlineEnvironments: all.filter(({ isInline }) => isInline),
      };
      return replyData(listed, formatList);
    }),
});

function formatList({ environments, inlineEnvironments }: z.infer<typeof Listed>): string {
  const lines = environments.map(formatEnvironment);
  if (inlineEnvironments.length > 0) {
    const size = inlineEnvironments.reduce((sum, { sizeMb }) => sum + sizeMb, 0);
    lines.push(
      `And ${countOf(inlineEnvironments.length, 'environment')} for inline dependencies of scripts  ${Math.round(size)} MB`,
    );
  }
  return lines.join('\n');
}

const Created = z.object({
  environment: EnvironmentInfo,
  report: PackageReport.nullable().describe('what was installed; null if no packages were requested'),
});

const CreateVenvArguments = z.strictObject({
  venvName: newVenv(),
  description: description().optional(),
  pythonVersion: z
    .string()
    .optional()
    .describe('Such as "3.12"; default: the version of the default environment.'),
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
  inputSchema: advertiseArguments(CreateVenvArguments),
  // list_venvs and install_packages advertise these fields.
  outputSchema: advertiseResult(Created, ['environment', 'report']),
  answer: (args, call) =>
    answer(CreateVenvArguments, args, call, async (wanted, steps) =>
      replyData(await call.pungi.environments.create(wanted, steps), formatCreated),
    ),
});

const formatCreated = ({ environment, report }: z.infer<typeof Created>) =>
  [`Created: ${formatEnvironment(environment)}`, ...(report === null ? [] : [formatReport(report)])].join(
    '\n',
  );

const SetVenvDescriptionArguments = z.strictObject({ venvName: namedVenv(), description: description() });

const Described = z.object({ environment: EnvironmentInfo });

export const setVenvDescription = (): Tool => ({
  name: 'set_venv_description',
  title: 'Describe an environment',
  description: 'Replace the description of an environment, which list_venvs shows.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: advertiseArguments(SetVenvDescriptionArguments),
  outputSchema: advertiseResult(Described, ['environment']),
  answer: (args, call) =>
    answer(SetVenvDescriptionArguments, args, call, async (wanted, steps) => {
      const { environments } = call.pungi;
      const environment = await environments.setDescription(wanted.venvName, wanted.description, steps);
      return replyData({ environment }, (described) => formatEnvironment(described.environment));
    }),
});

const DeleteVenvArguments = z.strictObject({
  venvName: namedVenv(),
  confirm: z.boolean().optional().describe('Must be true.'),
  confirmDefault: z.boolean().optional().describe('Must be true as well for the default environment.'),
  wait: z.boolean().optional().describe('Wait for code that runs in it, instead of failing.'),
});

const Deleted = z.object({ venvName: z.string(), deleted: z.literal(true) });

export const deleteVenv = ({ defaultVenvName, systemPackages }: Config): Tool => ({
  name: 'delete_venv',
  title: 'Delete an environment',
  description:
    'Delete an environment with everything installed in it. This cannot be undone. ' +
    `Without the default one, "${defaultVenvName}", code has the standard library${systemPackages ? " and the interpreter's own packages" : ' alone'}.`,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: advertiseArguments(DeleteVenvArguments),
  outputSchema: advertiseResult(Deleted),
  answer: (args, call) =>
    answer(DeleteVenvArguments, args, call, async (wanted, steps) => {
      await call.pungi.environments.delete({ ...wanted, confirm: wanted.confirm ?? false }, steps);
      const deleted = { venvName: wanted.venvName, deleted: true as const };
      return replyData(deleted, ({ venvName }) => `The environment "${venvName}" is deleted.`);
    }),
});
