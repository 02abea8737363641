import { InvalidArgumentError } from 'commander';

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
