import { PungiError } from '../../base/errors.js';
import { parseHostRule } from '../../network/host-rules.js';
import type { Chain } from './inherit.js';

/** What is wrong with a profiles file, at one place. */
export interface ProfileProblem {
  profile: string | null;
  key: string | null;
  line: number | null;
  problem: string;
}

/** Such as: line 4, profile "reports", cache_ttl: must be at least 0; it is -1. */
export function problemText({ profile, key, line, problem }: ProfileProblem): string {
  const where = [
    ...(line === null ? [] : [`line ${line}`]),
    ...(profile === null ? [] : [`profile ${JSON.stringify(profile)}`]),
    ...(key === null ? [] : [key]),
  ];
  return where.length === 0 ? problem : `${where.join(', ')}: ${problem}`;
}

/** Such as network.allow[0]; null for the profile itself. */
export const keyText = (path: readonly (string | number)[]): string | null =>
  path.length === 0
    ? null
    : path
        .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
        .join('');

/** Where something of a profile is in its file, and how it is spelled there. */
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

/** What is wrong with a profile's own rules beyond their form. */
export const ruleProblems = (chain: Chain): RuleProblem[] => [...folderNames(chain), ...hosts(chain)];

function folderNames([{ definition }, ...parents]: Chain): RuleProblem[] {
  const earlier = parents.flatMap((said) => said.definition.workspace ?? []);
  const folders = definition.workspace ?? [];
  return folders.flatMap(({ name, path }, index) => {
    const before = [...earlier, ...folders.slice(0, index)];
    if (!before.some((other) => other.name === name && other.path !== path)) return [];
    const problem = `two folders have the name "${name}", by which code sees them; give one of them another`;
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
