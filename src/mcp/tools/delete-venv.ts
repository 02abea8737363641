import { z } from 'zod';
import type { Config } from '../../config/schema.js';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer } from './answer.js';
import type { Tool } from './tool.js';
import { namedVenv } from './venv-arguments.js';

const Arguments = z.strictObject({
  venvName: namedVenv(),
  confirm: z.boolean().optional().describe('Must be true: it cannot be undone.'),
  confirmDefault: z.boolean().optional().describe('Must be true as well to delete the default environment.'),
  wait: z
    .boolean()
    .optional()
    .describe(
      'While code runs in it: true waits for the end of that, false, the default, is refused with ENVIRONMENT_IN_USE.',
    ),
});

const Deleted = z.object({ venvName: z.string(), deleted: z.literal(true) });

export const deleteVenv = ({ defaultVenvName }: Config): Tool => ({
  name: 'delete_venv',
  title: 'Delete an environment',
  description:
    'Delete an environment with everything installed in it. It cannot be undone. ' +
    `After the default environment, "${defaultVenvName}", is deleted, code runs with the interpreter's own packages again.`,
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
