import { PungiError } from '../../base/errors.js';
import { parseHostRule } from '../../runtime/network/host-rules.js';
import type { Chain } from './inherit.js';

export interface RuleProblem {
  key: string;
  problem: string;
}

/** What is wrong with a profile's own rules beyond their form. */
export const ruleProblems = (chain: Chain): RuleProblem[] => [...folderNames(chain), ...hosts(chain)];

function folderNames([{ definition }, ...parents]: Chain): RuleProblem[] {
  const earlier = parents.flatMap((said) => said.definition.workspace ?? []);
  const folders = definition.workspace ?? [];
  const taken = folders.filter(({ name, path }, index) =>
    [...earlier, ...folders.slice(0, index)].some((other) => other.name === name && other.path !== path),
  );
  return taken.map(({ name }) => ({
    key: 'workspace',
    problem: `two folders have the name "${name}", by which code sees them; give one of them another`,
  }));
}

function hosts([
  {
    definition: { network },
  },
]: Chain): RuleProblem[] {
  const entries = typeof network === 'object' ? network.allow : [];
  return entries.flatMap((entry) => {
    try {
      parseHostRule(entry);
      return [];
    } catch (error) {
      return [{ key: 'network', problem: PungiError.from(error).message.replace(/\.$/, '') }];
    }
  });
}
