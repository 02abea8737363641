import { EnvironmentInfo, PackageReport } from '@pungi/core/contract';
import { z } from 'zod';
import { advertiseArguments, CREATES, READ_ONLY, REPLACES } from './advertise.js';
import { answer, reply, type Tool } from './tool.js';
import {
  countOf,
  description,
  formatEnvironment,
  formatReport,
  namedVenv,
  packages,
} from './venv-arguments.js';

const Arguments = z.strictObject({});

const Listed = z.object({
  environments: z.array(EnvironmentInfo).describe('the default one, and created ones'),
  inlineEnvironments: z.array(EnvironmentInfo).describe('created for inline dependencies of scripts'),
});

export const listVenvs = (): Tool => ({
  name: 'list_venvs',
  title: 'List environments',
  description: 'List the Python environments.',
  annotations: READ_ONLY,
  inputSchema: advertiseArguments(Arguments),
  answer: (args, call) =>
    answer(Arguments, args, call, async () => {
      const all = await call.pungi.environments.list();
      const listed = {
        environments: all.filter(({ isInline }) => !isInline),
        inlineEnvironments: all.filter(({ isInline }) => isInline),
      };
      return reply(call, listed, formatList);
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
  venvName: namedVenv(),
  description: description().optional(),
  pythonVersion: z.string().optional().describe('Such as "3.12".'),
  packages: packages().optional(),
});

export const createVenv = (): Tool => ({
  name: 'create_venv',
  title: 'Create an environment',
  description: 'Create a Python environment for runs that pass its venvName.',
  annotations: CREATES,
  inputSchema: advertiseArguments(CreateVenvArguments, ['description']),
  answer: (args, call) =>
    answer(CreateVenvArguments, args, call, async (wanted, steps) =>
      reply(call, await call.pungi.environments.create(wanted, steps), formatCreated),
    ),
});

const formatCreated = ({ environment, report }: z.infer<typeof Created>) =>
  [`Created: ${formatEnvironment(environment)}`, ...(report === null ? [] : [formatReport(report)])].join(
    '\n',
  );

const SetVenvDescriptionArguments = z.strictObject({ venvName: namedVenv(), description: description() });

export const setVenvDescription = (): Tool => ({
  name: 'set_venv_description',
  title: 'Describe an environment',
  description: 'Replace the description of an environment.',
  annotations: REPLACES,
  inputSchema: advertiseArguments(SetVenvDescriptionArguments),
  answer: (args, call) =>
    answer(SetVenvDescriptionArguments, args, call, async (wanted, steps) => {
      const { environments } = call.pungi;
      const environment = await environments.setDescription(wanted.venvName, wanted.description, steps);
      return reply(call, { environment }, (described) => formatEnvironment(described.environment));
    }),
});

/** The refusal to delete the default environment names `confirmDefault`. */
const DeleteVenvArguments = z.strictObject({
  venvName: namedVenv(),
  confirm: z.boolean().optional().describe('Must be true.'),
  confirmDefault: z.boolean().optional(),
  wait: z.boolean().optional().describe('For its runs'),
});

export const deleteVenv = (): Tool => ({
  name: 'delete_venv',
  title: 'Delete an environment',
  description: 'Delete an environment and its packages, for good.',
  annotations: REPLACES,
  inputSchema: advertiseArguments(DeleteVenvArguments, ['confirmDefault', 'wait']),
  answer: (args, call) =>
    answer(DeleteVenvArguments, args, call, async (wanted, steps) => {
      await call.pungi.environments.delete({ ...wanted, confirm: wanted.confirm ?? false }, steps);
      const deleted = { venvName: wanted.venvName, deleted: true as const };
      return reply(call, deleted, ({ venvName }) => `The environment "${venvName}" is deleted.`);
    }),
});
