import { PungiError } from '../base/errors.js';
import type { EnvironmentInfo } from '../contract/environment.js';

const DAY_MS = 24 * 60 * 60_000;
/** Environments of scripts are created again when they are needed. */
const INLINE_UNUSED_DAYS = 30;

export interface CleanRequest {
  /** Also removes named environments that were not used for this many days. */
  unusedForDays?: number | undefined;
  /** Only report what would be removed. */
  dryRun?: boolean | undefined;
}

export function checkCleanRequest(request: CleanRequest): CleanRequest {
  const { unusedForDays: days } = request;
  if (days === undefined || (Number.isInteger(days) && days >= 1)) return request;
  throw new PungiError('INVALID_INPUT', 'Days without use: expected a whole number of at least 1.');
}

/** Returns why an environment may be removed, or undefined. The default one stays. */
export function reasonToClean(
  { state, isDefault, isInline, lastUsed, created }: EnvironmentInfo,
  { unusedForDays }: CleanRequest,
  now: Date,
): string | undefined {
  if (isDefault) return undefined;
  if (state === 'damaged') return 'damaged';
  const allowed = unusedForDays ?? (isInline ? INLINE_UNUSED_DAYS : undefined);
  if (allowed === undefined) return undefined;
  const since = new Date(lastUsed ?? created ?? now);
  const days = Math.floor((now.getTime() - since.getTime()) / DAY_MS);
  return days >= allowed ? `not used for ${days} days` : undefined;
}
