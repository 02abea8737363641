import type { CallToolResult } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { Outcome } from '../../contract/outcome.js';
import type { RunRequest } from '../../contract/run.js';
import type { Profiles } from '../../gate/profiles/profiles.js';
import type { OutputStyle } from '../outcome-words.js';
import { replyOutcome } from '../reply.js';
import { answer, type Steps } from './answer.js';
import type { Call } from './tool.js';

/** Checks the arguments, runs them, streams the steps before it and its output as progress, and words the outcome. */
export function answerRun<Schema extends z.ZodType>(
  schema: Schema,
  args: unknown,
  call: Call,
  toRequest: (args: z.infer<Schema>) => RunRequest,
): Promise<CallToolResult> {
  return answer(schema, args, call, async (parsed, steps) => {
    const outcome = await runHeard(toRequest(parsed), call, steps);
    return replyOutcome(outcome, styleOf(outcome, call.pungi.profiles));
  });
}

export function runHeard(
  request: RunRequest,
  { pungi }: Call,
  { signal, onStep, caller }: Steps,
): Promise<Outcome> {
  const hear = onStep && { onStep, onLine: ({ text }: { text: string }) => onStep(text) };
  return pungi.run(request, { signal, caller, ...hear });
}

export const styleOf = ({ profile }: Outcome, { all }: Profiles): OutputStyle =>
  all.find(({ name }) => name === profile)?.outputStyle ?? 'full';
