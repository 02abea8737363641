import { z } from 'zod';
import { EnvironmentInfo } from '../../contract/environment.js';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer } from './answer.js';
import { wordEnvironment } from './environment-words.js';
import type { Tool } from './tool.js';
import { description, namedVenv } from './venv-arguments.js';

const Arguments = z.strictObject({ venvName: namedVenv(), description: description() });

const Described = z.object({ environment: EnvironmentInfo });

export const setVenvDescription = (): Tool => ({
  name: 'set_venv_description',
  title: 'Describe an environment',
  description: 'Set the description of an environment, which list_venvs shows, in place of the old one.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: advertiseArguments(Arguments),
  outputSchema: advertiseResult(Described, ['environment']),
  answer: (args, call) =>
    answer(Arguments, args, call, async (wanted, steps) => {
      const { environments } = call.pungi;
      const environment = await environments.setDescription(wanted.venvName, wanted.description, steps);
      return replyData({ environment }, (described) => wordEnvironment(described.environment));
    }),
});
