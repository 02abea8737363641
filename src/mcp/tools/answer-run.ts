import type { CallToolResult } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { RunRequest } from '../../contract/run.js';
import { replyOutcome } from '../reply.js';
import { answer } from './answer.js';
import type { Call } from './tool.js';

/** Checks the arguments, runs them, streams the steps before it and its output as progress, and words the outcome. */
export function answerRun<Schema extends z.ZodType>(
  schema: Schema,
  args: unknown,
  call: Call,
  toRequest: (args: z.infer<Schema>) => RunRequest,
): Promise<CallToolResult> {
  return answer(schema, args, call, async (parsed, { signal, onStep }) => {
    const hear = onStep && { onStep, onLine: ({ text }: { text: string }) => onStep(text) };
    return replyOutcome(await call.pungi.run(toRequest(parsed), { signal, ...hear }));
  });
}
