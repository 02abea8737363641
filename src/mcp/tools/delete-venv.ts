import { z } from 'zod';
import type { Config } from '../../config/schema.js';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer } from './answer.js';
import type { Tool } from './tool.js';
import { namedVenv } from './venv-arguments.js';

const Arguments = z.strictObject({
  venvName: namedVenv(),
  confirm: z.boolean().optional().describe('Must be true.'),
  confirmDefault: z.boolean().optional().describe('Must be true as well for the default environment.'),
  wait: z.boolean().optional().describe('Wait for code that runs in it; without it, that is an error.'),
});

const Deleted = z.object({ venvName: z.string(), deleted: z.literal(true) });

export const deleteVenv = ({ defaultVenvName, systemPackages }: Config): Tool => ({
  name: 'delete_venv',
  title: 'Delete an environment',
  description:
    'Delete an environment with everything installed in it. It cannot be undone. ' +
    `Without the default one, "${defaultVenvName}", code has the standard library${systemPackages ? " and the interpreter's own packages" : ' alone'}.`,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: advertiseArguments(Arguments),
  outputSchema: advertiseResult(Deleted),
  answer: (args, call) =>
    answer(Arguments, args, call, async (wanted, steps) => {
      await call.pungi.environments.delete({ ...wanted, confirm: wanted.confirm ?? false }, steps);
      const deleted = { venvName: wanted.venvName, deleted: true as const };
      return replyData(deleted, ({ venvName }) => `The environment "${venvName}" is deleted.`);
    }),
});
