import { z } from 'zod';
import { type EnvironmentLock, PackageInfo } from './environment.js';
import { Limits } from './limits.js';
import { Isolation, type Outcome, Usage } from './outcome.js';
import type { RunRequest } from './run.js';

export const AUDIT_KINDS = [
  'run',
  'session',
  'install',
  'environment',
  'denial',
  'configuration',
  'server',
] as const;
const AuditKind = z.enum(AUDIT_KINDS);
type AuditKind = z.infer<typeof AuditKind>;

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal');
const environment = z.string().nullable().describe('the name of the environment');
const environmentLock = Sha256.nullable().describe("SHA-256 of the environment's lock file");
const code = z.string().nullable().describe('null if only its hash is kept');

/** The inputs of a run other than its code, as requested: enough to run it again. */
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
  | 'value'
> & { sources?: GivenSource[] };

/** A file of the machine, or an upload, that a run was given: not its contents. Without a path, it was standard input. */
export interface GivenSource {
  path: string | null;
  bytes: number;
  /** null if the run ended before it had read all of it. */
  sha256: string | null;
}

/** Replaces inputs that are too large to keep. */
export interface OmittedInputs {
  omitted: { bytes: number; sha256: string };
}

export const RunRecord = z.strictObject({
  runId: z.string(),
  code,
  codeSha256: Sha256.nullable().describe('null if the request had no code'),
  // Not z.json(): it may be megabytes, and the request was validated already.
  inputs: z
    .unknown()
    .describe(
      'what else the run was given (argv, stdin, context, …); left out together with the code; only size and hash of more than 1 MB',
    ),
  environment,
  environmentLock,
  profile: z.string().nullable(),
  limits: Limits.nullable().describe('null if refused before limits were decided'),
  verdict: z.strictObject({ kind: z.string(), code: z.string().nullable() }),
  usage: Usage,
  isolation: Isolation,
  outputSha256: Sha256.nullable().describe('of its output and value; null if nothing ran'),
  displays: z
    .strictObject({ count: z.number().int(), sha256: Sha256 })
    .optional()
    .describe('the pictures and other displays that it showed, which are not kept'),
  cachedFrom: z.string().nullable().describe('the run whose cached outcome was returned'),
  replayOf: z.string().nullable().describe('the run that this one repeats, to compare them'),
  session: z
    .strictObject({
      id: z.string().describe('identifies the session; not its handle'),
      call: z.number().int(),
    })
    .optional()
    .describe('the session that the run was in, and its place there'),
  capability: z.string().optional().describe('the purpose of the run, if the caller named one'),
  disclosure: z.string().optional().describe('the disclosure that was shown, if the profile has one'),
  notes: z
    .array(z.string())
    .optional()
    .describe('remarks on the run for its caller, such as limits that were lowered'),
});
export type RunRecord = z.infer<typeof RunRecord>;

const SessionRecord = z.strictObject({
  action: z.enum(['checkpoint', 'restore', 'fork']),
  session: z.string().describe('identifies the session, as in its runs; not its handle'),
  checkpoint: z.string().nullable().describe('the one that was made or restored'),
  forked: z.string().nullable().describe('identifies the new session of a fork'),
  environment,
  profile: z.string().nullable(),
});

const InstallRecord = z.strictObject({
  environment: z.string(),
  action: z.enum(['install', 'uninstall']),
  requested: z.array(z.string()),
  added: z.array(PackageInfo),
  removed: z.array(PackageInfo),
  environmentLock,
  error: z.string().nullable().describe('the error code, if it failed and changed nothing'),
});

const EnvironmentRecord = z.strictObject({
  environment: z.string(),
  action: z.string().describe('create, clone, delete, …'),
  environmentLock,
  details: z.json(),
});

const DenialRecord = z.strictObject({
  what: z.string().describe('what was denied: a tool, a profile, an import, a host'),
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
  settings: z.json().describe('all settings, without secrets'),
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

/** A record for the trail, which adds the number, the time and the hashes. */
export const AuditRecord = z.discriminatedUnion('kind', [
  record('run', RunRecord),
  record('session', SessionRecord),
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

/** All conditions must hold. Results are newest first; `before` is the seq of the last entry of the previous page. */
export const AuditQuery = z.strictObject({
  since: Time.optional(),
  until: Time.optional().describe('exclusive'),
  kind: AuditKind.optional(),
  verdict: z.string().optional().describe('kind of the verdict; "denied" finds denials as well'),
  client: z.string().optional().describe('with its version; or its name alone, which finds all versions'),
  sha256: Sha256.optional().describe('of the code'),
  environment: z.string().optional(),
  profile: z.string().optional(),
  capability: z.string().optional().describe('the purpose of the run'),
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
  head: AuditHead.nullable().describe('the newest entry; keep it elsewhere to check it later'),
  removed: z
    .object({ through: z.number().int(), at: z.string().describe('ISO 8601') })
    .nullable()
    .describe('entries up to this one were removed on purpose; a signed cut begins the chain'),
  problems: z.array(AuditProblem).describe('in ascending order; at most a thousand are listed'),
});
export type AuditVerification = z.infer<typeof AuditVerification>;

export interface AuditSettings {
  folder: string;
  /** full: acknowledged entries survive a power loss, at the price of waiting for the disk. */
  sync: 'normal' | 'full';
  storeCode: boolean;
  retentionDays: number | null;
  /** The disk space that the trail may use; unlimited if not given. */
  maxBytes?: number;
  /** rotate: the oldest entries are dropped. refuse: runs are refused until there is room. */
  whenFull?: 'rotate' | 'refuse';
}

/** The result of running an entry again. */
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
