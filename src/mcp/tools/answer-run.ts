import type { CallToolResult } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { RunRequest } from '../../contract/run.js';
import { ProgressStream } from '../progress.js';
import { invalidArguments, replyOutcome } from '../reply.js';
import type { Call } from './tool.js';

/** Checks the arguments, runs them, streams the output as progress and words the outcome. */
export async function answerRun<Schema extends z.ZodType>(
  schema: Schema,
  args: unknown,
  { pungi, ctx }: Call,
  toRequest: (args: z.infer<Schema>) => RunRequest,
): Promise<CallToolResult> {
  const parsed = schema.safeParse(args ?? {});
  if (!parsed.success) return invalidArguments(parsed.error);
  const progress = ProgressStream.for(ctx);
  try {
    const outcome = await pungi.run(toRequest(parsed.data), {
      signal: ctx.mcpReq.signal,
      ...(progress && { onLine: (line) => progress.push(line.text) }),
    });
    return replyOutcome(outcome);
  } finally {
    await progress?.end();
  }
}
