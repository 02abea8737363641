import type { EnvironmentInfo } from '../contract/environment.js';

const DAY_MS = 24 * 60 * 60_000;
/** Environments of scripts are made again when they are needed. */
const INLINE_UNUSED_DAYS = 30;

export interface CleanRequest {
  /** Named environments, too, that were not used for so many days. */
  unusedForDays?: number | undefined;
  /** Only tell what would be removed. */
  dryRun?: boolean | undefined;
}

/** Why an environment may go, if it may. The default one stays. */
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

/** Environments of scripts, the one to go first in front. */
export function leastRecentlyUsed(all: readonly EnvironmentInfo[]): EnvironmentInfo[] {
  const used = ({ lastUsed, created }: EnvironmentInfo) => lastUsed ?? created ?? '';
  return all.filter(({ isInline }) => isInline).sort((a, b) => used(a).localeCompare(used(b)));
}
