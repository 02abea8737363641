import { PungiError } from '../../base/errors.js';
import { parseHostRule } from '../../runtime/network/host-rules.js';
import type { Chain } from './inherit.js';

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
