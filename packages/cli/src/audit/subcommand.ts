import { auditFolder, openTrailForReading, type TrailReader } from '@pungi/core/audit';
import { PungiError } from '@pungi/core/base';
import { AUDIT_KINDS, type AuditEntry, AuditQuery, VERDICT_KINDS } from '@pungi/core/contract';
import { InvalidArgumentError, type Option } from 'commander';
import type { Parsed } from '../act.js';
import { readConfig } from '../config-flags.js';
import { AUDIT_EXIT_CODES_HELP } from '../exit-codes.js';
import { option, subcommandsOf } from '../subcommands.js';

export { type End, option } from '../subcommands.js';

/** One command of `pungi audit`. */
export const subcommand = subcommandsOf({ settings: ['auditDir'], exitCodes: AUDIT_EXIT_CODES_HELP });

/** Opens the trail for reading only, also while others write it. */
export async function withReader<T>(
  flags: Parsed,
  work: (reader: TrailReader) => T | Promise<T>,
): Promise<T> {
  const reader = await openTrailForReading(auditFolder(readConfig(flags)));
  try {
    return await work(reader);
  } finally {
    reader.close();
  }
}

export const WHICH: [name: string, about: string] = [
  '<entry|run>',
  'the number of the entry, the id of the run, or "last" for the newest run',
];

export function findEntry(reader: TrailReader, which: string): AuditEntry {
  const isNumber = /^\d{1,15}$/.test(which);
  const [newest] = which === 'last' ? reader.list({ kind: 'run', limit: 1 }) : [];
  const entry = newest ?? reader.get(isNumber ? Number(which) : which);
  if (entry !== undefined) return entry;
  const what = isNumber ? `no entry ${which}` : which === 'last' ? 'no run' : `no run "${which}"`;
  const { first } = reader.bounds();
  const isGone = isNumber && Number(which) > 0 && first !== null && Number(which) < first;
  const why = isGone ? `: older entries were removed, and it now begins with ${first}` : '';
  throw new PungiError('INVALID_INPUT', `There is ${what} in the audit trail in ${reader.folder}${why}.`);
}

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Parses a time as ISO 8601, or as an age such as "3d". */
export function parseTime(text: string, now = Date.now()): Date {
  const [, count, unit] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  const time = new Date(
    unit === undefined
      ? /^\d{4}-\d\d-\d\d/.test(text)
        ? text
        : Number.NaN
      : now - Number(count) * UNITS[unit]!,
  );
  if (!Number.isNaN(time.getTime())) return time;
  throw new InvalidArgumentError(
    'must be a time such as "2026-11-15" or "2026-11-15T12:00:00Z", or how long ago, such as "90m", "2h" or "3d".',
  );
}

export const timeText = (iso: string): string => iso.slice(0, 19).replace('T', ' ');

export interface Filters extends Parsed {
  since?: Date;
  until?: Date;
  kind?: AuditQuery['kind'];
  verdict?: string;
  client?: string;
  sha256?: string;
  env?: string;
  profile?: string;
  capability?: string;
  limit?: number;
}

/** Runs that could not be recorded cannot be found. */
const VERDICTS = VERDICT_KINDS.filter((kind) => kind !== 'unrecorded');

/** Options that filter entries; all of them must match. */
export const filterOptions = (limit: string): Option[] => [
  option('--since <time>', 'at or after this time: ISO 8601, or "2h", "3d" ago').argParser(asTime),
  option('--until <time>', 'before this time').argParser(asTime),
  option('--kind <kind>', 'of this kind').choices(AUDIT_KINDS),
  option('--verdict <kind>', 'with this verdict').choices(VERDICTS),
  option('--client <name>', 'from this client: "claude-code", or one version, "claude-code 2.0.1"'),
  option('--sha256 <hash>', 'with this code').argParser(asHash),
  option('--env <name>', 'in this environment'),
  option('--profile <name>', 'under this profile'),
  option('--capability <name>', 'with this capability: executive_reporting, …'),
  option('--limit <count>', limit).argParser(asCount),
];

export function queryOf({ since, until, env, ...filters }: Filters): AuditQuery {
  const { kind, verdict, client, sha256, profile, capability, limit } = filters;
  const query = {
    since: since?.toISOString(),
    until: until?.toISOString(),
    environment: env,
    ...{ kind, verdict, client, sha256, profile, capability, limit },
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

// Commander also passes the previous value, which is not the current time.
const asTime = (text: string): Date => parseTime(text);

function asHash(text: string): string {
  const parsed = AuditQuery.shape.sha256.safeParse(text.toLowerCase());
  if (parsed.success) return parsed.data!;
  throw new InvalidArgumentError('must be a SHA-256: 64 hexadecimal digits.');
}

function asCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be a whole number, at least 1.');
}
