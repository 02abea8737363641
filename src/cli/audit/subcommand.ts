import { InvalidArgumentError } from 'commander';
import { auditFolder } from '../../audit/settings.js';
import { openTrailForReading, type TrailReader } from '../../audit/trail-reader.js';
import { PungiError } from '../../base/errors.js';
import type { AuditEntry } from '../../contract/audit.js';
import type { Parsed } from '../act.js';
import { readConfig } from '../config-flags.js';
import { AUDIT_EXIT_CODES_HELP } from '../exit-codes.js';
import { subcommandsOf } from '../subcommands.js';

export { type End, option } from '../subcommands.js';

/** One command of `pungi audit`. */
export const subcommand = subcommandsOf({ settings: ['auditDir'], exitCodes: AUDIT_EXIT_CODES_HELP });

/** Looks into the trail; nothing is written, whoever else may be writing it. */
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
  const why = isGone ? ` any more: older entries were removed, and it begins with ${first}` : '';
  throw new PungiError('INVALID_INPUT', `There is ${what} in the audit trail in ${reader.folder}${why}.`);
}

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A time as a person types it: ISO 8601, or how long ago it was. */
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
