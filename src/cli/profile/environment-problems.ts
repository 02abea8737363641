import { PungiError } from '../../base/errors.js';
import type { Config } from '../../config/schema.js';
import { checkName } from '../../environments/name.js';
import { parseRequirements } from '../../environments/requirements/requirement.js';
import { defaultBase, Layout } from '../../environments/store/layout.js';
import { Store } from '../../environments/store/store.js';
import type { FurtherCheck } from '../../gate/profiles/check-profiles.js';
import type { RuleProblem } from '../../gate/profiles/rule-problems.js';

type Settings = Pick<Config, 'venvsBasePath' | 'defaultVenvName' | 'packageSources'>;

/** What whoever runs with these profiles would be told of their environments. */
export function environmentCheck(settings: Settings): FurtherCheck {
  const store = new Store(new Layout(settings.venvsBasePath ?? defaultBase()));
  const isMissing = (name: string) => name !== settings.defaultVenvName && !store.isThere(checkName(name));
  return ({ definition: { environment, packages = [] } }, profile) => {
    const found: RuleProblem[] = [];
    const attempt = (path: (string | number)[], work: () => string | undefined) => {
      const problem = sentenceOf(work);
      if (problem !== undefined) found.push({ path, problem });
    };
    if (environment !== undefined) {
      const advice = `there is no environment "${environment}"; make it with: pungi env create ${environment}`;
      attempt(['environment'], () => (isMissing(environment) ? advice : undefined));
    }
    if (profile.environment !== null) return found;
    for (const [index, one] of packages.entries())
      attempt(['packages', index], () => void parseRequirements([one], settings.packageSources));
    return found;
  };
}

/** What is wrong, whether it is returned or thrown. */
function sentenceOf(work: () => string | undefined): string | undefined {
  try {
    return work();
  } catch (error) {
    return PungiError.from(error).message.replace(/\.$/, '');
  }
}
