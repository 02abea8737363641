import type { CallToolResult } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { PungiError } from '../../base/errors.js';
import type { Caller } from '../../contract/caller.js';
import type { StepOptions } from '../../contract/environment.js';
import { jsonFaults, tooMany } from '../../gate/issue-text.js';
import { ProgressStream } from '../progress.js';
import { invalidArguments, replyError } from '../reply.js';
import type { Call } from './tool.js';

/** A signal and a caller always; a listener only where the client wants to hear of progress. */
export type Steps = StepOptions & { signal: AbortSignal; caller: Caller };

/** Checks the arguments, acts on them, tells the steps as progress, and words whatever goes wrong. */
export async function answer<Schema extends z.ZodType>(
  schema: Schema,
  args: unknown,
  { ctx, pungi, caller }: Call,
  act: (args: z.infer<Schema>, steps: Steps) => Promise<CallToolResult>,
  count: (args: unknown) => string[] = tooMany,
): Promise<CallToolResult> {
  const many = count(args);
  if (many.length > 0) return invalidArguments(many);
  const parsed = schema.safeParse(args ?? {});
  if (!parsed.success) return invalidArguments(jsonFaults(parsed.error));
  const { signal } = ctx.mcpReq;
  const progress = ProgressStream.for(ctx);
  try {
    return await act(parsed.data, {
      signal,
      caller,
      ...(progress && { onStep: (message: string) => progress.push(message) }),
    });
  } catch (thrown) {
    if (signal.aborted) return replyError(new PungiError('CANCELLED', 'The call was cancelled.'));
    const error = PungiError.from(thrown);
    pungi.logger.error('A call failed', { client: caller.client, code: error.code, message: error.message });
    return replyError(error);
  } finally {
    await progress?.end();
  }
}
