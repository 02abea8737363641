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
import { documented, nameProblem, type ParsedProfiles, parseProfiles } from './parse-profiles.js';
import { BUILT_IN, BUILT_IN_PROFILES, Profiles } from './profiles.js';

const PROFILES_FILE = 'profiles.yaml';

export interface ProfileSettings {
  profilesFile?: string | undefined;
  defaultProfile: string;
  allowedProfiles: readonly string[];
}

/**
 * Loads the built-in profiles and those of the file, besides those that a cluster shares. Throws CONFIGURATION_ERROR with all
 * problems.
 */
export function loadProfiles(
  settings: ProfileSettings,
  shared: ReadonlyMap<string, Chain> = new Map(),
): Profiles {
  const file = profilesFileOf(settings);
  const { chains, problems } = readChains(file);
  if (problems.length > 0) {
    const message = `The profiles file ${file} cannot be used: ${sentenceOf(problems, file)}.`;
    throw new PungiError('CONFIGURATION_ERROR', message, { file, problems });
  }
  const unknown = unknownNames(settings, [...new Set([...chains.keys(), ...shared.keys()])]);
  if (unknown.length > 0)
    throw new PungiError('CONFIGURATION_ERROR', unknown.join(' '), { problems: unknown });
  const profiles = new Profiles(chains, settings.allowedProfiles);
  profiles.share(shared);
  return profiles;
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

/** Reads the profiles of a file alone, as written. */
export function readDefinitions(file: string): Pick<ParsedProfiles, 'definitions' | 'problems'> {
  const path = resolve(file);
  return parseProfiles(readYamlFile(path, `The profiles file ${file}`), dirname(path));
}

/** The origin of profiles that a cluster shares. */
const CLUSTER = 'cluster';

/**
 * Connects the profiles that a cluster shares. They extend each other and the built-in ones, but no profile of a file, so that they are
 * the same at every front end. A built-in one that extends a shared one is among them.
 */
export function connectShared(
  definitions: ReadonlyMap<string, ProfileDefinition>,
): Pick<ReadProfiles, 'chains' | 'problems'> {
  const builtIn = sourcesOf(BUILT_IN, BUILT_IN_PROFILES);
  const known = new Map([...builtIn, ...sourcesOf(CLUSTER, definitions)]);
  const { chains, problems } = connect(known, builtIn, nowhere);
  for (const [name, { workspace }] of definitions) {
    const wrong = (key: string | null, problem: string) =>
      problems.push({ profile: name, key, line: null, problem });
    const badName = nameProblem(name);
    if (badName !== undefined) wrong(null, badName);
    if (workspace !== undefined) wrong('workspace', 'a cluster has no folders with data');
  }
  const isShared = (chain: Chain) => chain.some(({ origin }) => origin === CLUSTER);
  return { chains: new Map([...chains].filter(([, chain]) => isShared(chain))), problems };
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
