import { PungiError } from '../../base/errors.js';
import type { Config } from '../../config/schema.js';
import type { Profile } from '../../contract/profile.js';
import { checkName } from '../../environments/name.js';
import { parseRequirements } from '../../environments/requirements/requirement.js';
import { defaultBase, Layout } from '../../environments/store/layout.js';
import { Store } from '../../environments/store/store.js';
import type { ProfileProblem } from '../../gate/profiles/problem.js';

type Settings = Pick<Config, 'venvsBasePath' | 'defaultVenvName' | 'packageSources'>;

/** What whoever runs with these profiles would be told of their environments. */
export function environmentProblems(profiles: readonly Profile[], settings: Settings): ProfileProblem[] {
  const store = new Store(new Layout(settings.venvsBasePath ?? defaultBase()));
  const isMissing = (name: string) => name !== settings.defaultVenvName && !store.isThere(checkName(name));
  return profiles.flatMap(({ name: profile, environment, packages }) => {
    const found: ProfileProblem[] = [];
    const attempt = (key: string, work: () => string | undefined) => {
      const problem = sentenceOf(work);
      if (problem !== undefined) found.push({ profile, key, line: null, problem });
    };
    if (environment !== null) {
      const advice = `there is no environment "${environment}"; make it with: pungi env create ${environment}`;
      attempt('environment', () => (isMissing(environment) ? advice : undefined));
      return found;
    }
    attempt('packages', () => void parseRequirements(packages, settings.packageSources));
    return found;
  });
}

/** What is wrong, whether it is returned or thrown. */
function sentenceOf(work: () => string | undefined): string | undefined {
  try {
    return work();
  } catch (error) {
    return PungiError.from(error).message.replace(/\.$/, '');
  }
}
