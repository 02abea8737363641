import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { Disclosure } from './disclosure.js';
import { SessionState } from './session.js';
import { Verdict } from './verdicts.js';
import { ValueContent } from './wrap.js';

export {
  type Failure,
  PythonException,
  ScopeViolation,
  Verdict,
  type VerdictKind,
} from './verdicts.js';

/** From the strongest down. */
export const TIERS = ['namespace', 'landlock', 'process', 'spawn'] as const;
export const Tier = z.enum(TIERS);
export type Tier = z.infer<typeof Tier>;

/** Whether a tier keeps code from the host; in the others it can do what its user can. */
export const isSandboxed = (tier: Tier): boolean => tier === 'namespace' || tier === 'landlock';

export const Output = z.object({
  text: z.string().describe('head and tail around a marker if it was longer than the limit'),
  bytes: z.number().int().describe('bytes that the run wrote'),
  truncated: z.boolean(),
});
export type Output = z.infer<typeof Output>;

export const Value = z.object({
  type: z.string(),
  repr: z
    .string()
    .describe('the last expression, or what the called function returned, as a notebook shows it'),
  json: z.json().optional().describe('the same as JSON, if it is plain data and small'),
  content: z
    .array(ValueContent)
    .optional()
    .describe('of a called function: images and other bytes that it returned'),
  note: z
    .string()
    .optional()
    .describe('of a called function: notes on parts of its value that were converted or left out'),
});
export type Value = z.infer<typeof Value>;

/** Rich output: what a notebook would show beside the text of a run. */
export const Display = z.object({
  data: z
    .record(z.string(), z.json())
    .describe('by media type, such as "image/png" or "text/html"; pictures and other bytes as base64'),
  at: z
    .object({ stdout: z.number().int(), stderr: z.number().int() })
    .describe('its place: the characters of stdout.text and stderr.text that came before it'),
  id: z.string().optional().describe('the display_id that the code gave it'),
  isValue: z.boolean().optional().describe('true: it shows the value of the last expression'),
});
export type Display = z.infer<typeof Display>;

export const Usage = z.object({
  wallMs: z.number().describe('from the start of the code until its last process ended'),
  cpuMs: z.number().describe('CPU time of all processes of the run'),
  peakMemoryMb: z.number().describe('the highest resident memory of the processes of the run'),
  waitMs: z.number().describe('time spent waiting: for the queue, the environment and its locks, a worker'),
  installMs: z
    .number()
    .describe('time spent on creating the environment and installing packages, before the run'),
});
export type Usage = z.infer<typeof Usage>;

export const Isolation = z.object({
  tier: Tier.nullable().describe('null if nothing ran'),
  features: z.array(z.string()).describe('the kernel mechanisms in force'),
});
export type Isolation = z.infer<typeof Isolation>;

/** A file that a run made or changed in its work folder. */
export const Artifact = z.object({
  path: z.string().describe('relative to the work folder'),
  size: z.number().int(),
  sha256: z.string(),
  mimeType: z.string(),
});
export type Artifact = z.infer<typeof Artifact>;

export const Outcome = z.object({
  runId: z.string(),
  verdict: Verdict,
  stdout: Output,
  stderr: Output,
  value: Value.nullable(),
  displays: z
    .array(Display)
    .optional()
    .describe('pictures, HTML and data that the code showed, in order; untrusted, like its output'),
  usage: Usage,
  codeSha256: z.string(),
  isolation: Isolation,
  environment: z.string().nullable().describe('the name of the environment; null if nothing ran'),
  profile: z.string().nullable().describe('the profile of the run; null if none was chosen'),
  cached: z
    .object({ runId: z.string(), at: z.string().describe('ISO 8601') })
    .nullable()
    .describe('the run whose cached outcome this is'),
  disclosure: Disclosure.nullable(),
  artifacts: z
    .array(Artifact)
    .optional()
    .describe('the files that it made or changed, which are kept for a time'),
  session: SessionState.optional().describe('the session that the run was in'),
  notes: z
    .array(z.string())
    .optional()
    .describe(
      'remarks on the run, such as limits that were lowered, packages that were skipped, or a value that cannot be shown',
    ),
});
export type Outcome = z.infer<typeof Outcome>;

const NOTHING: Output = { text: '', bytes: 0, truncated: false };

/** Builds an outcome, also for a refused run. Omitted parts are empty. */
export const buildOutcome = ({
  runId = randomUUID(),
  usage,
  ...parts
}: Partial<Omit<Outcome, 'usage'>> & Pick<Outcome, 'verdict'> & { usage?: Partial<Usage> }): Outcome => ({
  runId,
  stdout: NOTHING,
  stderr: NOTHING,
  value: null,
  usage: { wallMs: 0, cpuMs: 0, peakMemoryMb: 0, waitMs: 0, installMs: 0, ...usage },
  codeSha256: '',
  isolation: { tier: null, features: [] },
  environment: null,
  profile: null,
  cached: null,
  disclosure: null,
  ...parts,
});
