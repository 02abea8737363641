import { z } from 'zod';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from '../tools/advertise.js';
import { answer } from '../tools/answer.js';
import type { Tool } from '../tools/tool.js';

const Arguments = z.strictObject({
  name: z.string().max(200).describe('The name of the script, as list_wrapped tells it.'),
});

const Unwrapped = z.object({ name: z.string(), unwrapped: z.literal(true) });

export const unwrapScript = (): Tool => ({
  name: 'unwrap_script',
  title: 'Take back the tools of a script',
  description:
    'Offer the tools of a script no more that wrap_script wrapped. One that was given as text is deleted from the tools ' +
    'folder; one that lies elsewhere on the server stays where it is. What the owner of the server wrapped is not touched.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: advertiseArguments(Arguments),
  outputSchema: advertiseResult(Unwrapped),
  answer: (args, call) =>
    answer(Arguments, args, call, async ({ name }, { caller }) => {
      await call.pungi.unwrapScript(name, { caller });
      return replyData(
        { name, unwrapped: true as const },
        () => `The tools of "${name}" are offered no more.`,
      );
    }),
});
