import type { Config } from '@pungi/core/config';
import { Outcome, type Profile, RunRequest, ScopeViolation, type Verdict } from '@pungi/core/contract';
import { CAPABILITIES, type Profiles } from '@pungi/core/gate';
import { z } from 'zod';
import type { ReplyOptions } from '../reply.js';
import { advertiseArguments } from './advertise.js';
import { describePersonas, executeAnnotations, usablePersonas } from './descriptions.js';
import { answer, replyDetail, replyRun, runWithProgress, type Tool } from './tool.js';
import { existingVenv } from './venv-arguments.js';

const unknown = (what: string, given: unknown, known: readonly string[]) =>
  `${given === undefined ? 'is missing' : `unknown ${what} ${JSON.stringify(given)?.slice(0, 100)}`}; known: ${known.join(', ')}`;

const argumentsFor = (config: Config, profiles: Profiles) => {
  const all = profiles.personas.map(({ name }) => name);
  const usable = usablePersonas(profiles).map(({ name }) => name);
  return z.strictObject({
    code: RunRequest.shape.code.unwrap().describe('Python'),
    // The gate refuses a persona that exists but may not be used, so that the refusal is audited.
    persona: z
      .string({ error: ({ input }) => unknown('persona', input, usable) })
      .refine((name) => all.includes(name), { error: ({ input }) => unknown('persona', input, usable) })
      .meta({ description: describePersonas(profiles), enum: usable }),
    capability: z
      .enum(CAPABILITIES, { error: ({ input }) => unknown('capability', input, CAPABILITIES) })
      .nullish()
      .describe('Its purpose'),
    context: z.record(z.string(), z.unknown()).nullish().describe('The data to analyze.'),
    venvName: existingVenv(config).nullish(),
    fresh: RunRequest.shape.fresh.nullish(),
    replyDetail,
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
      'Run Python for strategic analysis as one of the personas.',
      ...(imports ? [`Code may import ${imports.join(', ')}.`] : []),
      ...(imported.length === 0 ? [] : [`Already imported: ${imported.join(', ')}.`]),
      `Variables: ${variables.join(', ')}.`,
      'Show the disclosure of the reply.',
    ].join('\n'),
    annotations: executeAnnotations(config),
    inputSchema: advertiseArguments(Arguments, ['venvName', 'fresh', 'replyDetail']),
    outputSchema: { type: 'object' },
    answer: (args, call) =>
      answer(
        Arguments,
        args,
        call,
        async ({ code, persona, capability, context, venvName, fresh, replyDetail: detail }, steps) => {
          const request = {
            code,
            profile: persona,
            context: context ?? {},
            fresh: fresh ?? false,
            ...(capability && { capability }),
            ...(venvName && { venvName }),
          };
          const outcome = await runWithProgress(request, call, steps);
          const about = { persona: profiles.get(persona), capability: capability ?? null };
          return replyRun(outcome, call, strategicReply(outcome, about, detail ?? config.replyDetail));
        },
      ),
  };
}

/** Whose analysis it is, and what for. */
interface About {
  persona: Profile;
  capability: string | null;
}

/**
 * The full form: the six fields that clients of the strategic server know, this server's additions, and the outcome.
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

/** How to reply to an analysis: both forms have the fields of the strategic server. */
export function strategicReply(outcome: Outcome, about: About, detail: ReplyOptions['detail']) {
  const { verdict } = outcome;
  const sentence = verdict.kind === 'ok' ? undefined : sentenceFor(verdict);
  const structure = (fitting: Outcome) => {
    const result = resultOf(fitting, about, sentence ?? null);
    return detail === 'full' ? result : shorten(result);
  };
  return { style: about.persona.outputStyle, sentence, structure };
}

/** The six fields, and of the others those that say something. */
function shorten({ outcome, capability, violations, disclosure, cached, ...six }: StrategicResult) {
  return {
    ...six,
    ...(capability !== null && { capability }),
    ...(violations.length > 0 && { violations }),
    ...(outcome.notes && { notes: outcome.notes }),
    ...(cached !== null && { cached: cached.at }),
    ...(disclosure !== null && { disclosure: disclosure.text }),
  };
}

function resultOf(outcome: Outcome, { persona, capability }: About, error: string | null): StrategicResult {
  const { verdict, usage, disclosure, cached } = outcome;
  return {
    success: verdict.kind === 'ok',
    output: outputOf(outcome),
    error,
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
