import { randomUUID } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { PungiError } from '../../base/errors.js';
import { wrappedCall } from '../../wrap/call/wrapped-call.js';
import type { WrappedTool } from '../../wrap/tools-folder/wrapped-script.js';
import { fitOutcome } from '../fit.js';
import { text } from '../outcome-words.js';
import { answer, type Call, runHeard, styleOf } from '../tools/tool.js';
import { wordWrapped } from './wrapped-words.js';

/** What fits a tool is said by its own schema. Not a record, which would drop a name such as "__proto__". */
const Arguments = z.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

/** A call of a wrapped tool is a run like any other: its profile, its environment, the sandbox, the queue and the record hold. */
export function answerWrapped(tool: WrappedTool, args: unknown, call: Call): Promise<CallToolResult> {
  const act: Parameters<typeof answer<typeof Arguments>>[3] = async (given, steps) => {
    try {
      const outcome = await runHeard(wrappedCall(tool, given), call, steps);
      const { verdict, runId } = outcome;
      if (verdict.kind === 'internal') return replyOwnFault(tool, verdict.message, runId, call);
      const style = styleOf(outcome, call.pungi.profiles);
      return fitOutcome(outcome, (fitting) => wordWrapped(tool, fitting, style));
    } catch (error) {
      if (error instanceof PungiError) throw error;
      return replyOwnFault(tool, String((error as Error)?.stack ?? error), randomUUID(), call);
    }
  };
  // How many of what it takes is for its schema to say.
  return answer(Arguments, args, call, act, () => []);
}

/** What the script did is told in full; what went wrong in the server is told to its log, where the number finds it. */
function replyOwnFault({ name }: WrappedTool, problem: string, id: string, { pungi }: Call): CallToolResult {
  pungi.logger.error('A wrapped tool could not be run', { id, tool: name, problem });
  const words = `INTERNAL_ERROR: The server failed at this, not the script. Its log says more under ${id}.`;
  return { content: [text(words)], isError: true };
}
