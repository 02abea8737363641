import { PungiError } from '../base/errors.js';
import type { CleanReport, EnvironmentInfo, StepOptions } from '../contract/environment.js';
import type { Catalog } from './catalog.js';
import type { EnvironmentEditor } from './editor.js';
import type { Installer } from './installer.js';
import type { Store } from './store/store.js';

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
  now = new Date(),
): string | undefined {
  if (isDefault) return undefined;
  if (state === 'damaged') return 'damaged';
  const allowed = unusedForDays ?? (isInline ? INLINE_UNUSED_DAYS : undefined);
  if (allowed === undefined) return undefined;
  const since = new Date(lastUsed ?? created ?? now);
  const days = Math.floor((now.getTime() - since.getTime()) / DAY_MS);
  return days >= allowed ? `not used for ${days} days` : undefined;
}

interface Parts {
  catalog: Catalog;
  editor: EnvironmentEditor;
  store: Store;
  installer: Installer;
}

/** Removes the environments that the request names a reason for, and leftovers. Skips those in use. */
export async function cleanEnvironments(
  request: CleanRequest,
  { catalog, editor, store, installer }: Parts,
  options: StepOptions,
): Promise<CleanReport> {
  const { dryRun = false } = request;
  const removed: CleanReport['removed'] = [];
  for (const info of await catalog.list()) {
    const { venvName, sizeMb, sharedMb } = info;
    const reason = reasonToClean(info, request, new Date());
    if (reason === undefined) continue;
    const note = { action: 'clean', details: { reason } } as const;
    if (!dryRun && !(await editor.removeUnused(venvName, note, options))) continue;
    removed.push({ venvName, reason, freedMb: Math.max(0, sizeMb - sharedMb) });
  }
  if (!dryRun && store.isUsed()) {
    await editor.collect();
    await store.emptyTrash();
    if (store.hasCache()) await installer.prune(options);
  }
  return { removed, dryRun };
}
