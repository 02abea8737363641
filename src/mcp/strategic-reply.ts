import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { Outcome, ScopeViolation, type Verdict } from '../contract/outcome.js';
import type { Profile } from '../contract/profile.js';
import { fitOutcome } from './fit.js';
import { wordOutcome } from './outcome-words.js';

/** The six fields that clients of the strategic server know, what this server adds, and the outcome itself. */
export const StrategicResult = z.object({
  success: z.boolean(),
  output: z.string().describe('what was printed, then the last value'),
  error: z.string().nullable().describe('one sentence for a person; null where it ended well'),
  execution_time: z.number().describe('seconds'),
  memory_usage: z.number().int().describe('bytes, at the peak'),
  persona_context: z.string(),
  capability: z.string().nullable(),
  violations: z.array(ScopeViolation).describe('where the code left the scope'),
  disclosure: Outcome.shape.disclosure,
  cached: Outcome.shape.cached,
  outcome: Outcome,
});
export type StrategicResult = z.infer<typeof StrategicResult>;

export function replyStrategic(
  outcome: Outcome,
  persona: Profile,
  capability: string | null,
): CallToolResult {
  return fitOutcome(outcome, (fitting) => {
    const result = resultOf(fitting, persona, capability);
    return {
      content: wordOutcome(fitting, persona.outputStyle, result.error ?? undefined),
      structuredContent: result,
      isError: !result.success,
    };
  });
}

function resultOf(outcome: Outcome, persona: Profile, capability: string | null): StrategicResult {
  const { verdict, usage, disclosure, cached } = outcome;
  return {
    success: verdict.kind === 'ok',
    output: outputOf(outcome),
    error: verdict.kind === 'ok' ? null : sentenceFor(verdict),
    execution_time: usage.wallMs / 1000,
    memory_usage: Math.round(usage.peakMemoryMb * 1024 * 1024),
    persona_context: persona.name,
    capability,
    violations: (verdict.kind === 'denied' && verdict.violations) || [],
    disclosure,
    cached,
    outcome,
  };
}

/** The value starts on a line of its own. */
function outputOf({ stdout, value }: Outcome): string {
  if (value === null) return stdout.text;
  const isOpen = stdout.text !== '' && !stdout.text.endsWith('\n');
  return `${stdout.text}${isOpen ? '\n' : ''}${value.repr}`;
}

/** The words that clients of the strategic server know; a violation's come from the profile. */
function sentenceFor(verdict: Exclude<Verdict, { kind: 'ok' }>): string {
  if (verdict.kind === 'timed-out') return `Execution timeout exceeded. ${verdict.message}`;
  // Libraries advise to use pip for what they miss, which nobody can do here.
  if (verdict.kind === 'python-error' && verdict.exception.missingModule !== null)
    return verdict.exception.hint ?? verdict.message;
  return verdict.message;
}
