import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Config } from '@pungi/core/config';
import { Outcome, type Profile, RunRequest, ScopeViolation, type Verdict } from '@pungi/core/contract';
import { CAPABILITIES, type Profiles } from '@pungi/core/gate';
import { z } from 'zod';
import { fitOutcome } from '../fit.js';
import { formatOutcome } from '../format-outcome.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { describePersonas, executeAnnotations, isStrategicOnly, usablePersonas } from './descriptions.js';
import { answer, runWithProgress, type Tool } from './tool.js';
import { existingVenv } from './venv-arguments.js';

const unknown = (what: string, given: unknown, known: readonly string[]) =>
  `${given === undefined ? 'is missing' : `unknown ${what} ${JSON.stringify(given)?.slice(0, 100)}`}; known: ${known.join(', ')}`;

const argumentsFor = (config: Config, profiles: Profiles) => {
  const all = profiles.personas.map(({ name }) => name);
  const usable = usablePersonas(profiles).map(({ name }) => name);
  return z.strictObject({
    code: RunRequest.shape.code.unwrap().describe('Python source.'),
    // The gate refuses a persona that exists but may not be used, so that the refusal is audited.
    persona: z
      .string({ error: ({ input }) => unknown('persona', input, usable) })
      .refine((name) => all.includes(name), { error: ({ input }) => unknown('persona', input, usable) })
      .meta({ description: `Whose analysis it is.\n${describePersonas(profiles)}`, enum: usable }),
    capability: z
      .enum(CAPABILITIES, { error: ({ input }) => unknown('capability', input, CAPABILITIES) })
      .nullish()
      .describe('What the analysis is for.'),
    context: z.record(z.string(), z.unknown()).nullish().describe('A JSON object with the data to analyze.'),
    venvName: existingVenv(config, 'to run in, if the persona has none').nullish(),
    fresh: RunRequest.shape.fresh.nullish().describe('Run the code even if its outcome is cached.'),
  });
};

export function executeStrategicCode(config: Config, profiles: Profiles): Tool {
  const Arguments = argumentsFor(config, profiles);
  const personas = usablePersonas(profiles);
  const [first] = personas;
  // Shared by all personas; list_profiles shows what some have in addition.
  const imported = (first?.defaultImports ?? []).filter((text) =>
    personas.every(({ defaultImports }) => defaultImports.includes(text)),
  );
  const imports = first?.allowedImports;
  const variables = ['persona', 'role', first?.contextVariable ?? 'context', 'available_data'];
  return {
    name: 'execute_strategic_code',
    title: 'Run strategic analysis',
    description: [
      'Run Python for strategic analysis as one of the personas, and return its output and the value of its last expression.',
      ...(imports ? [`Code may import ${imports.join(', ')}; other code is refused with its line.`] : []),
      ...(imported.length === 0 ? [] : [`Already imported: ${imported.join(', ')}.`]),
      `It has the variables ${variables.join(', ')}; context is the object you pass.`,
      `Every call runs in a fresh sandboxed process${isStrategicOnly(config) ? '' : ', as in execute_python'}. The reply discloses what was run.`,
    ].join('\n'),
    annotations: executeAnnotations(config),
    inputSchema: advertiseArguments(Arguments),
    outputSchema: advertiseResult(StrategicResult, ['violations', 'disclosure', 'cached', 'outcome']),
    answer: (args, call) =>
      answer(
        Arguments,
        args,
        call,
        async ({ code, persona, capability, context, venvName, fresh }, steps) => {
          const request = {
            code,
            profile: persona,
            context: context ?? {},
            fresh: fresh ?? false,
            ...(capability && { capability }),
            ...(venvName && { venvName }),
          };
          return replyStrategic(
            await runWithProgress(request, call, steps),
            profiles.get(persona),
            capability ?? null,
          );
        },
      ),
  };
}

/**
 * The six fields that clients of the strategic server know, this server's additions, and the outcome itself.
 */
export const StrategicResult = z.object({
  success: z.boolean(),
  output: z.string().describe('what was printed, then the last value'),
  error: z.string().nullable().describe('one sentence for a person; null on success'),
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
      content: formatOutcome(fitting, persona.outputStyle, result.error ?? undefined),
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

/** The value starts on its own line. */
function outputOf({ stdout, value }: Outcome): string {
  if (value === null) return stdout.text;
  const isOpen = stdout.text !== '' && !stdout.text.endsWith('\n');
  return `${stdout.text}${isOpen ? '\n' : ''}${value.repr}`;
}

/**
 * The messages that clients of the strategic server know; the message of a violation comes from the profile.
 */
function sentenceFor(verdict: Exclude<Verdict, { kind: 'ok' }>): string {
  if (verdict.kind === 'timed-out') return `Execution timeout exceeded. ${verdict.message}`;
  // Libraries advise to use pip for a missing module, which is impossible here.
  if (verdict.kind === 'python-error' && verdict.exception.missingModule !== null)
    return verdict.exception.hint ?? verdict.message;
  return verdict.message;
}
