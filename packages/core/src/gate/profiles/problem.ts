import { PungiError } from '../../base/errors.js';
import { parseHostRule } from '../../network/host-rules.js';
import type { Chain } from './inherit.js';

/** A problem of a profiles file, at one place. */
export interface ProfileProblem {
  profile: string | null;
  key: string | null;
  line: number | null;
  problem: string;
}

/** Formats a problem, such as: line 4, profile "reports", cache_ttl: must be at least 0; it is -1. */
export function problemText({ profile, key, line, problem }: ProfileProblem): string {
  const where = [
    ...(line === null ? [] : [`line ${line}`]),
    ...(profile === null ? [] : [`profile ${JSON.stringify(profile)}`]),
    ...(key === null ? [] : [key]),
  ];
  return where.length === 0 ? problem : `${where.join(', ')}: ${problem}`;
}

/** Formats a path, such as network.allow[0]; null for the profile itself. */
export const keyText = (path: readonly (string | number)[]): string | null =>
  path.length === 0
    ? null
    : path
        .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
        .join('');

/** Finds the position and the spelling of a part of a profile in its file. */
export type Locate = (
  profile: string,
  path: readonly (string | number)[],
) => Pick<ProfileProblem, 'key' | 'line'>;

export const byLine = (one: ProfileProblem, other: ProfileProblem): number =>
  (one.line ?? 0) - (other.line ?? 0);

export interface RuleProblem {
  path: (string | number)[];
  problem: string;
}

/** Checks a profile's own rules beyond their schema. */
export const ruleProblems = (chain: Chain): RuleProblem[] => [...folderNames(chain), ...hosts(chain)];

function folderNames([{ definition }, ...parents]: Chain): RuleProblem[] {
  const earlier = parents.flatMap((source) => source.definition.workspace ?? []);
  const folders = definition.workspace ?? [];
  return folders.flatMap(({ name, path }, index) => {
    const before = [...earlier, ...folders.slice(0, index)];
    if (!before.some((other) => other.name === name && other.path !== path)) return [];
    const problem = `two folders have the name "${name}"; rename one of them`;
    return [{ path: ['workspace', index], problem }];
  });
}

function hosts([
  {
    definition: { network },
  },
]: Chain): RuleProblem[] {
  const entries = typeof network === 'object' ? network.allow : [];
  return entries.flatMap((entry, index) => {
    try {
      parseHostRule(entry);
      return [];
    } catch (error) {
      const problem = PungiError.from(error).message.replace(/\.$/, '');
      return [{ path: ['network', 'allow', index], problem }];
    }
  });
}
