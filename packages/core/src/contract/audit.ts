import { z } from 'zod';
import { type EnvironmentLock, PackageInfo } from './environment.js';
import { Limits } from './limits.js';
import { Isolation, type Outcome, Usage } from './outcome.js';
import type { RunRequest } from './run.js';

export const AUDIT_KINDS = ['run', 'install', 'environment', 'denial', 'configuration', 'server'] as const;
const AuditKind = z.enum(AUDIT_KINDS);
type AuditKind = z.infer<typeof AuditKind>;

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal');
const environment = z.string().nullable().describe('the name of the environment');
const environmentLock = Sha256.nullable().describe("SHA-256 of the environment's lock file");
const code = z.string().nullable().describe('null where only its hash is kept');

/** What else than its code a run was given, as it was asked for: enough to run it again. */
export type RunInputs = Pick<
  RunRequest,
  | 'filename'
  | 'argv'
  | 'stdin'
  | 'inputData'
  | 'files'
  | 'env'
  | 'context'
  | 'call'
  | 'venvName'
  | 'capability'
>;

/** In the place of inputs that are too large to be kept. */
export interface OmittedInputs {
  omitted: { bytes: number; sha256: string };
}

export const RunRecord = z.strictObject({
  runId: z.string(),
  code,
  codeSha256: Sha256.nullable().describe('null where there was no code, such as in a request without any'),
  // Not z.json(): it may be megabytes, and was checked at the door.
  inputs: z
    .unknown()
    .describe(
      'what else the run was given (argv, stdin, context, …); left out together with the code; only size and hash of more than 1 MB',
    ),
  environment,
  environmentLock,
  profile: z.string().nullable(),
  limits: Limits.nullable().describe('null where it was refused before limits were decided'),
  verdict: z.strictObject({ kind: z.string(), code: z.string().nullable() }),
  usage: Usage,
  isolation: Isolation,
  outputSha256: Sha256.nullable().describe('of what it wrote and its value; null where nothing was run'),
  cachedFrom: z.string().nullable().describe('the run whose outcome was given again, where nothing was run'),
  replayOf: z.string().nullable().describe('the run that this one repeats, to compare them'),
  capability: z.string().optional().describe('what the run was for, where the caller said so'),
  disclosure: z.string().optional().describe('the disclosure as it was shown, where the profile has one'),
  notes: z
    .array(z.string())
    .optional()
    .describe('remarks on the run for its caller, such as limits that were lowered'),
});
export type RunRecord = z.infer<typeof RunRecord>;

const InstallRecord = z.strictObject({
  environment: z.string(),
  action: z.enum(['install', 'uninstall']),
  requested: z.array(z.string()),
  added: z.array(PackageInfo),
  removed: z.array(PackageInfo),
  environmentLock,
  error: z.string().nullable().describe('the error code, where it failed and changed nothing'),
});

const EnvironmentRecord = z.strictObject({
  environment: z.string(),
  action: z.string().describe('create, clone, delete, …'),
  environmentLock,
  details: z.json(),
});

const DenialRecord = z.strictObject({
  what: z.string().describe('what was asked for: a tool, a profile, an import, a host'),
  reason: z.string(),
  runId: z.string().nullable(),
  code,
  codeSha256: Sha256.nullable(),
  environment,
  environmentLock,
  profile: z.string().nullable(),
  details: z.json(),
});

const ConfigurationRecord = z.strictObject({
  change: z.string().describe('the settings that changed'),
  before: z.json().describe('their values before; null in the first entry'),
  after: z.json().describe('their values now'),
  settings: z.json().describe('all settings, without what is secret in them'),
});

const ServerRecord = z.strictObject({
  event: z.enum(['genesis', 'started', 'stopped', 'pruned']),
  details: z.json(),
});

const who = {
  client: z.string(),
  token: z.string().nullable().describe('the name of the token, never the token itself'),
};
const record = <Kind extends AuditKind, Data extends z.ZodType>(kind: Kind, data: Data) =>
  z.strictObject({ kind: z.literal(kind), ...who, data });

/** What is handed to the trail. It adds the number, the time and the hashes. */
export const AuditRecord = z.discriminatedUnion('kind', [
  record('run', RunRecord),
  record('install', InstallRecord),
  record('environment', EnvironmentRecord),
  record('denial', DenialRecord),
  record('configuration', ConfigurationRecord),
  record('server', ServerRecord),
]);
export type AuditRecord = z.infer<typeof AuditRecord>;

/** An entry: hash = SHA-256 of prevHash followed by the canonical JSON of all the rest. */
export type AuditEntry = AuditRecord & { seq: number; time: string; prevHash: string; hash: string };

const Time = z.iso.datetime({ offset: true }).describe('ISO 8601');

/** Every condition must hold. Newest first; `before` is the seq of the last entry of the page before. */
export const AuditQuery = z.strictObject({
  since: Time.optional(),
  until: Time.optional().describe('exclusive'),
  kind: AuditKind.optional(),
  verdict: z.string().optional().describe('kind of the verdict; "denied" finds denials as well'),
  client: z.string().optional().describe('with its version; or its name alone, which finds all versions'),
  sha256: Sha256.optional().describe('of the code'),
  environment: z.string().optional(),
  profile: z.string().optional(),
  capability: z.string().optional().describe('what the run was for'),
  limit: z.number().int().min(1).max(10_000).optional(),
  before: z.number().int().optional(),
});
export type AuditQuery = z.infer<typeof AuditQuery>;

export const AuditProblem = z.object({
  seq: z.number().int().describe('the entry, or the first of them'),
  problem: z.string().describe('one sentence for a person'),
});
export type AuditProblem = z.infer<typeof AuditProblem>;

export const AuditHead = z.object({ seq: z.number().int(), hash: z.string() });
export type AuditHead = z.infer<typeof AuditHead>;

export const AuditVerification = z.object({
  ok: z.boolean(),
  entries: z.number().int(),
  checkpoints: z.number().int(),
  head: AuditHead.nullable().describe('the newest entry: what to keep elsewhere, and to ask for later'),
  removed: z
    .object({ through: z.number().int(), at: z.string().describe('ISO 8601') })
    .nullable()
    .describe('the entries up to this one were removed on purpose: signed, and the chain begins after it'),
  problems: z.array(AuditProblem).describe('in ascending order; at most a thousand are listed'),
});
export type AuditVerification = z.infer<typeof AuditVerification>;

export interface AuditSettings {
  folder: string;
  /** full: nothing acknowledged is lost by a power loss either, at the price of waiting for the disk. */
  sync: 'normal' | 'full';
  storeCode: boolean;
  retentionDays: number | null;
  /** What the trail may take of the disk; as much as there is if not given. */
  maxBytes?: number;
  /** rotate: the oldest entries are dropped. refuse: nothing is recorded, and so nothing run, until there is room. */
  whenFull?: 'rotate' | 'refuse';
}

/** What running an entry again gave. */
export interface Replay {
  /** The entry that was run again. */
  seq: number;
  runId: string;
  outcome: Outcome;
  same: boolean;
  /** One sentence each. */
  differences: string[];
}

export type { EnvironmentLock };
