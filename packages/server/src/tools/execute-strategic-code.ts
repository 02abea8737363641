import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Config } from '@pungi/core/config';
import { Outcome, type Profile, RunRequest, ScopeViolation, type Verdict } from '@pungi/core/contract';
import { CAPABILITIES, type Profiles } from '@pungi/core/gate';
import { z } from 'zod';
import { fitOutcome } from '../fit.js';
import { formatOutcome } from '../format-outcome.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { describePersonas, executeAnnotations, isAlone, usablePersonas } from './descriptions.js';
import { answer, runHeard, type Tool } from './tool.js';
import { existingVenv } from './venv-arguments.js';

const unknown = (what: string, given: unknown, known: readonly string[]) =>
  `${given === undefined ? 'is missing' : `unknown ${what} ${JSON.stringify(given)?.slice(0, 100)}`}; known are ${known.join(', ')}`;

const argumentsFor = (config: Config, profiles: Profiles) => {
  const all = profiles.personas.map(({ name }) => name);
  const usable = usablePersonas(profiles).map(({ name }) => name);
  return z.strictObject({
    code: RunRequest.shape.code.unwrap().describe('Python source.'),
    // One that exists and may not be used is for the gate to refuse, and for the audit trail to know.
    persona: z
      .string({ error: ({ input }) => unknown('persona', input, usable) })
      .refine((name) => all.includes(name), { error: ({ input }) => unknown('persona', input, usable) })
      .meta({ description: `Whose analysis it is.\n${describePersonas(profiles)}`, enum: usable }),
    capability: z
      .enum(CAPABILITIES, { error: ({ input }) => unknown('capability', input, CAPABILITIES) })
      .nullish()
      .describe('What the analysis is for.'),
    context: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('A JSON object with what the analysis is about.'),
    venvName: existingVenv(config, 'to run in, where the persona does not bring its own').nullish(),
    fresh: RunRequest.shape.fresh
      .nullish()
      .describe('Run the code, though the outcome of the same code is kept.'),
  });
};

export function executeStrategicCode(config: Config, profiles: Profiles): Tool {
  const Arguments = argumentsFor(config, profiles);
  const personas = usablePersonas(profiles);
  const [first] = personas;
  // What all of them find; some find more, which list_profiles tells.
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
      ...(imports
        ? [`Code may import ${imports.join(', ')}; what leaves this scope is refused with its line.`]
        : []),
      ...(imported.length === 0 ? [] : [`Imported for it already: ${imported.join(', ')}.`]),
      `It finds the variables ${variables.join(', ')}: the context is the object that was given.`,
      `Every call runs in a fresh sandboxed process${isAlone(config) ? '' : ', as execute_python does it'}. The reply discloses what was run.`,
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
            await runHeard(request, call, steps),
            profiles.get(persona),
            capability ?? null,
          );
        },
      ),
  };
}

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
