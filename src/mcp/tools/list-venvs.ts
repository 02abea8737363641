import { z } from 'zod';
import { EnvironmentInfo } from '../../contract/environment.js';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer } from './answer.js';
import { countOf, wordEnvironment } from './environment-words.js';
import type { Tool } from './tool.js';
import { ONLY_LOOKS } from './venv-arguments.js';

const Arguments = z.strictObject({});

const Listed = z.object({
  environments: z.array(EnvironmentInfo).describe('the default one, and those that were created'),
  inlineEnvironments: z
    .array(EnvironmentInfo)
    .describe('made by the server for inline dependencies of scripts'),
});

export const listVenvs = (): Tool => ({
  name: 'list_venvs',
  title: 'List environments',
  description:
    'List the Python environments with their Python version, number of packages, size, last use and description. ' +
    'Other tools take their names as venvName.',
  annotations: ONLY_LOOKS,
  inputSchema: advertiseArguments(Arguments),
  outputSchema: advertiseResult(Listed, ['inlineEnvironments']),
  answer: (args, call) =>
    answer(Arguments, args, call, async () => {
      const all = await call.pungi.environments.list();
      const listed = {
        environments: all.filter(({ isInline }) => !isInline),
        inlineEnvironments: all.filter(({ isInline }) => isInline),
      };
      return replyData(listed, wordList);
    }),
});

function wordList({ environments, inlineEnvironments }: z.infer<typeof Listed>): string {
  const lines = environments.map(wordEnvironment);
  if (inlineEnvironments.length > 0) {
    const size = inlineEnvironments.reduce((sum, { sizeMb }) => sum + sizeMb, 0);
    lines.push(
      `And ${countOf(inlineEnvironments.length, 'environment')} for inline dependencies of scripts  ${Math.round(size)} MB`,
    );
  }
  return lines.join('\n');
}
