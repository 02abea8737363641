import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { PungiError } from '../../base/errors.js';
import { similarName } from '../../base/issue-text.js';
import { OPTIONS } from '../../config/schema.js';
import { readYamlFile } from '../../config/yaml-file.js';
import type { ProfileDefinition } from '../../contract/profile.js';
import {
  byLine,
  type Chain,
  chainOf,
  keyText,
  type Locate,
  type ProfileProblem,
  type ProfileSource,
  problemText,
  ruleProblems,
} from './inherit.js';
import { documented, parseProfiles } from './parse-profiles.js';
import { BUILT_IN, BUILT_IN_PROFILES, Profiles } from './profiles.js';

const PROFILES_FILE = 'profiles.yaml';

export interface ProfileSettings {
  profilesFile?: string | undefined;
  defaultProfile: string;
  allowedProfiles: readonly string[];
}

/** Loads the built-in profiles and those of the file. Throws CONFIGURATION_ERROR with all problems. */
export function loadProfiles(settings: ProfileSettings): Profiles {
  const file = profilesFileOf(settings);
  const { chains, problems } = readChains(file);
  if (problems.length > 0) {
    const message = `The profiles file ${file} cannot be used: ${sentenceOf(problems, file)}.`;
    throw new PungiError('CONFIGURATION_ERROR', message, { file, problems });
  }
  const unknown = unknownNames(settings, [...chains.keys()]);
  if (unknown.length > 0)
    throw new PungiError('CONFIGURATION_ERROR', unknown.join(' '), { problems: unknown });
  return new Profiles(chains, settings.allowedProfiles);
}

const MOST_IN_A_SENTENCE = 3;

/** Shortens a long list of problems. */
function sentenceOf(problems: readonly ProfileProblem[], file: string | undefined): string {
  const texts = problems.slice(0, MOST_IN_A_SENTENCE).map(problemText);
  if (problems.length <= MOST_IN_A_SENTENCE) return texts.join('; ');
  return `${problems.length} problems; see: pungi profile check ${file} — the first are: ${texts.join('; ')}`;
}

/** Returns the file of the settings, or profiles.yaml of the current folder if it exists. */
export const profilesFileOf = ({ profilesFile }: Pick<ProfileSettings, 'profilesFile'>): string | undefined =>
  profilesFile ?? (existsSync(PROFILES_FILE) ? PROFILES_FILE : undefined);

interface ReadProfiles {
  /** Every profile with the profiles that it extends, as far as these exist. */
  chains: Map<string, Chain>;
  /** The problems of the file, ordered by line. */
  problems: ProfileProblem[];
  locate: Locate;
  /** Whether the names of all profiles are known. */
  isReadable: boolean;
}

const nowhere: Locate = (_, path) => ({ key: keyText(documented(path)), line: null });

/** Without a file, reads the built-in profiles. */
export function readChains(file?: string): ReadProfiles {
  const builtIn = sourcesOf(BUILT_IN, BUILT_IN_PROFILES);
  if (file === undefined) return { ...connect(builtIn, builtIn, nowhere), locate: nowhere, isReadable: true };
  const path = resolve(file);
  const yaml = readYamlFile(path, `The profiles file ${file}`);
  const { definitions, problems, locate } = parseProfiles(yaml, dirname(path));
  const known = new Map([...builtIn, ...sourcesOf(file, definitions)]);
  const connected = connect(known, builtIn, locate);
  return {
    chains: connected.chains,
    problems: [...problems, ...connected.problems].sort(byLine),
    locate,
    isReadable: yaml.problems.length === 0,
  };
}

const sourcesOf = (
  origin: string,
  definitions: ReadonlyMap<string, ProfileDefinition>,
): Map<string, ProfileSource> =>
  new Map([...definitions].map(([name, definition]) => [name, { name, origin, definition }]));

function connect(
  known: ReadonlyMap<string, ProfileSource>,
  replaced: ReadonlyMap<string, ProfileSource>,
  locate: Locate,
): Pick<ReadProfiles, 'chains' | 'problems'> {
  const chains = new Map<string, Chain>();
  const problems: ProfileProblem[] = [];
  for (const name of known.keys()) {
    const report = (path: (string | number)[], problem: string) =>
      problems.push({ profile: name, ...locate(name, path), problem });
    const { chain, problem: broken } = chainOf(name, known, replaced);
    chains.set(name, chain);
    if (broken?.isOwn) report(['extends'], broken.sentence);
    for (const { path, problem } of ruleProblems(chain)) report(path, problem);
  }
  return { chains, problems };
}

/** Describes settings that name unknown profiles. */
export function unknownNames(
  { defaultProfile, allowedProfiles }: Pick<ProfileSettings, 'defaultProfile' | 'allowedProfiles'>,
  names: readonly string[],
): string[] {
  const sentence = (variable: string, name: string) => {
    const meant = similarName(name, names);
    const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
    return `${variable} names the profile "${name}", which does not exist.${hint} There are: ${names.join(', ')}.`;
  };
  const isUnknown = (name: string) => name !== '*' && !names.includes(name);
  return [
    ...(names.includes(defaultProfile) ? [] : [sentence(OPTIONS.defaultProfile.env, defaultProfile)]),
    ...allowedProfiles.filter(isUnknown).map((name) => sentence(OPTIONS.allowedProfiles.env, name)),
  ];
}
