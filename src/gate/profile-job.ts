import type { Profile, ScopeRules } from '../contract/profile.js';
import type { RunRequest } from '../contract/run.js';
import type { Furnishing } from '../engine/home.js';
import { isStrategic } from './profiles/profiles.js';
import type { AvailableFile } from './workspace-data.js';

/** What the worker enforces; undefined where the profile has no rule. */
export function rulesOf(profile: Profile): ScopeRules | undefined {
  const { name, allowedImports, blockedImports, blockedBuiltins, blockedOperations, defaultImports } =
    profile;
  const blocks = [...blockedImports, ...blockedBuiltins, ...blockedOperations];
  if (allowedImports === null && blocks.length === 0) return undefined;
  return {
    profile: name,
    message: profile.scopeMessage,
    allowedImports,
    blockedImports,
    blockedBuiltins,
    blockedOperations,
    defaultImports,
  };
}

/**
 * What the workers of a profile are parked with; undefined where they are like any other. Where a profile has rules for
 * imports, nothing is loaded that it does not name itself.
 */
export function furnishingOf(
  { preload: own, workspace, allowedHosts, allowedImports, blockedImports }: Profile,
  { preload: wanted = [] }: Pick<RunRequest, 'preload'> = {},
): Furnishing | undefined {
  const isFree = allowedImports === null && blockedImports.length === 0;
  const preload = isFree ? [...own, ...wanted] : own;
  if (preload.length + workspace.length + allowedHosts.length === 0) return undefined;
  return { preload, data: workspace, allowedHosts };
}

/** What code sees by name. The later ones win: nothing of a profile hides what the request brought. */
export function variablesOf(
  profile: Profile,
  { context }: RunRequest,
  files: readonly AvailableFile[],
): Record<string, unknown> {
  const { templateVars, contextVariable, workspace } = profile;
  return {
    ...templateVars,
    ...(context !== undefined && { context }),
    ...(contextVariable !== null && { [contextVariable]: context ?? {} }),
    ...((workspace.length > 0 || isStrategic(profile)) && { available_data: files }),
  };
}
