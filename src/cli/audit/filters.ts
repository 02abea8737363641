import { InvalidArgumentError, type Option } from 'commander';
import { AUDIT_KINDS, AuditQuery } from '../../contract/audit.js';
import { VERDICT_KINDS } from '../../contract/verdicts.js';
import type { Parsed } from '../act.js';
import { option, parseTime } from './subcommand.js';

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

/** What could not be recorded is not there to be found. */
const VERDICTS = VERDICT_KINDS.filter((kind) => kind !== 'unrecorded');

/** Which entries are meant. Each narrows what the others leave. */
export const filterOptions = (limit: string): Option[] => [
  option('--since <time>', 'not older than this: ISO 8601, or "2h", "3d" for so long ago').argParser(asTime),
  option('--until <time>', 'older than this').argParser(asTime),
  option('--kind <kind>', 'of this kind').choices(AUDIT_KINDS),
  option('--verdict <kind>', 'that ended so').choices(VERDICTS),
  option('--client <name>', 'that this client asked for: "claude-code", or one version, "claude-code 2.0.1"'),
  option('--sha256 <hash>', 'with this code').argParser(asHash),
  option('--env <name>', 'in this environment'),
  option('--profile <name>', 'under this profile'),
  option('--capability <name>', 'for this: executive_reporting, …'),
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

// Commander hands over the earlier value as well, which is not the present time.
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
