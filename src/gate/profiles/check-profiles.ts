import { statSync } from 'node:fs';
import { fileProblem } from '../../base/file-problem.js';
import type { Limits } from '../../contract/limits.js';
import type { Profile } from '../../contract/profile.js';
import { BUILT_IN } from './built-in.js';
import { type Chain, inherit } from './inherit.js';
import { type ProfileSettings, readChains, unknownNames } from './load-profiles.js';
import type { ProfileProblem } from './problem.js';
import { PYTHON_BUILTINS } from './python-builtins.js';

/** What there is to say about a profiles file: errors keep it from being used, or its runs from being made. */
export interface ProfilesCheck {
  file: string | null;
  /** Those of the file; all where there is none. */
  profiles: Profile[];
  errors: ProfileProblem[];
  warnings: ProfileProblem[];
}

/** Checks a file as a server with these settings and limits would use it. */
export function checkProfiles(
  file: string | undefined,
  settings: ProfileSettings,
  ceiling: Limits,
): ProfilesCheck {
  const { chains, problems, lineOf } = readChains(file);
  const own = [...chains.values()].filter(([said]) => file === undefined || said.origin !== BUILT_IN);
  const profiles = own.map(inherit);
  const at =
    ({ name }: Profile): At =>
    (key, problem) => ({ profile: name, key, line: lineOf(name, key), problem });
  const errors = [...problems, ...profiles.flatMap((profile) => folderProblems(profile, at(profile)))];
  // Names that settings mention may be among the profiles that are wrong.
  const unknown = problems.length > 0 ? [] : unknownNames(settings, [...chains.keys()]);
  errors.push(...unknown.map((problem) => ({ profile: null, key: null, line: null, problem })));
  const warnings = own.flatMap((chain, index) => {
    const profile = profiles[index]!;
    return [...doubts(profile, chain, at(profile)), ...ceilingDoubts(profile, chain, ceiling, at(profile))];
  });
  return { file: file ?? null, profiles, errors, warnings };
}

type At = (key: string, problem: string) => ProfileProblem;

function folderProblems({ workspace }: Profile, at: At): ProfileProblem[] {
  return workspace.flatMap(({ name, path }) => {
    try {
      return statSync(path).isDirectory() ? [] : [at('workspace', `"${name}" is not a folder: ${path}`)];
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      return [
        at('workspace', `"${name}" cannot be read: ${missing ? 'there is no' : fileProblem(error)} ${path}`),
      ];
    }
  });
}

/** What can be used, and is probably not what was meant. */
function doubts(profile: Profile, [{ definition }]: Chain, at: At): ProfileProblem[] {
  const found: ProfileProblem[] = [];
  const doubt = (key: string, problem: string) => found.push(at(key, problem));
  const both = (profile.allowedImports ?? []).filter((name) => profile.blockedImports.includes(name));
  if (both.length > 0) doubt('allowedImports', `${both.join(', ')} is blocked as well, and the block wins`);
  const strange = (definition.blockedBuiltins ?? []).filter((name) => !PYTHON_BUILTINS.has(name));
  if (strange.length > 0) doubt('blockedBuiltins', `${strange.join(', ')} is no builtin of Python`);
  const modules = (definition.defaultImports ?? []).map((one) => one.split(' ', 1)[0]!);
  const blocked = modules.filter((name) => profile.blockedImports.includes(name));
  if (blocked.length > 0)
    doubt('defaultImports', `${blocked.join(', ')} is blocked, and yet imported for the code`);
  if (
    profile.environment !== null &&
    profile.packages.length > 0 &&
    (definition.environment ?? definition.packages)
  )
    doubt(
      'packages',
      `${profile.packages.join(', ')} is not installed: runs are in "${profile.environment}"`,
    );
  if (definition.cacheTtl && !profile.deterministic)
    doubt('cacheTtl', 'nothing is kept: runs may end differently (network hosts, or deterministic: false)');
  if (profile.allowedHosts.length > 0 && profile.blockedOperations.includes('network'))
    doubt('network', 'hosts are allowed, but the operation "network" is blocked');
  if (definition.scopeMessage !== undefined && !hasRules(profile))
    doubt('scopeMessage', 'is never said: the profile allows everything');
  return found;
}

function ceilingDoubts(
  { limits }: Profile,
  [{ definition }]: Chain,
  ceiling: Limits,
  at: At,
): ProfileProblem[] {
  const names = Object.keys(definition.limits ?? {}) as (keyof Limits)[];
  return names
    .filter((name) => (limits[name] ?? 0) > ceiling[name])
    .map((name) =>
      at(`limits.${name}`, `${limits[name]} is above the ${ceiling[name]} of the server, which holds`),
    );
}

const hasRules = ({ allowedImports, blockedImports, blockedBuiltins, blockedOperations }: Profile) =>
  allowedImports !== null || blockedImports.length + blockedBuiltins.length + blockedOperations.length > 0;
