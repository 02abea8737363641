import { PungiError } from '../../base/errors.js';
import type { Profile, ProfileDefinition } from '../../contract/profile.js';
import { parseHostRule } from '../../network/hosts.js';

/** A profile as written, and its origin. */
export interface ProfileSource {
  name: string;
  /** "built-in", or the file. */
  origin: string;
  definition: ProfileDefinition;
}

/** A profile as written, followed by the profiles that it extends. */
export type Chain = readonly [ProfileSource, ...ProfileSource[]];

/** A longer chain is a mistake. */
const MAX_CHAIN = 16;

/**
 * Returns a profile and the profiles that it extends. A profile with the name of a built-in one replaces it for all
 * that extend it, and may extend it itself. If a profile is missing, the chain ends before it, and `problem` says
 * why.
 */
export function chainOf(
  name: string,
  known: ReadonlyMap<string, ProfileSource>,
  replaced: ReadonlyMap<string, ProfileSource>,
): { chain: Chain; problem?: ExtendsProblem } {
  const chain: [ProfileSource, ...ProfileSource[]] = [known.get(name)!];
  const seen = new Set(chain);
  for (let source = chain[0]; source.definition.extends !== undefined; ) {
    const parent = source.definition.extends;
    const next = parent === source.name ? replaced.get(parent) : known.get(parent);
    const isOwn = source === chain[0];
    if (next === undefined && !known.has(parent)) {
      const sentence = `there is no profile "${parent}" to extend; there are ${[...known.keys()].join(', ')}`;
      return { chain, problem: { sentence, isOwn } };
    }
    if (next === undefined || seen.has(next)) {
      const circle = [...chain.map((one) => one.name), parent].join(' extends ');
      const sentence = `profiles cannot extend each other in a circle: ${circle}`;
      return { chain, problem: { sentence, isOwn: isOwn || next === chain[0] } };
    }
    chain.push(next);
    seen.add(next);
    if (chain.length > MAX_CHAIN) {
      const sentence = `at most ${MAX_CHAIN} profiles may extend each other in a row`;
      return { chain, problem: { sentence, isOwn: true } };
    }
    source = next;
  }
  return { chain };
}

interface ExtendsProblem {
  sentence: string;
  /** False if the problem belongs to a profile further up, which reports it. */
  isOwn: boolean;
}

/** Merges a chain: single values replace inherited ones, lists are appended, maps are merged. */
export function inherit(chain: Chain): Profile {
  const [own] = chain;
  const oldestFirst = chain.map(({ definition }) => definition).toReversed();
  const last = <Key extends keyof ProfileDefinition>(key: Key) =>
    oldestFirst.findLast((definition) => definition[key] !== undefined)?.[key];
  const all = <Item>(pick: (definition: ProfileDefinition) => readonly Item[] | undefined): Item[] => [
    ...new Set(oldestFirst.flatMap((definition) => pick(definition) ?? [])),
  ];
  const allowedHosts = hostsOf(oldestFirst);
  return {
    name: own.name,
    // A description is not inherited, unless a profile extends the built-in one of its name.
    description:
      chain.find(({ name, definition }) => name === own.name && definition.description)?.definition
        .description ?? '',
    lineage: [...new Set(chain.map(({ name }) => name))],
    origin: own.origin,
    environment: last('environment') ?? null,
    packages: packagesOf(oldestFirst),
    preload: all(({ preload }) => preload),
    limits: Object.assign({}, ...oldestFirst.map(({ limits }) => limits)),
    allowedImports: last('allowedImports') === undefined ? null : all(({ allowedImports }) => allowedImports),
    blockedImports: all(({ blockedImports }) => blockedImports),
    blockedBuiltins: all(({ blockedBuiltins }) => blockedBuiltins),
    blockedOperations: all(({ blockedOperations }) => blockedOperations),
    scopeMessage: last('scopeMessage') ?? null,
    templateVars: Object.assign({}, ...oldestFirst.map(({ templateVars }) => templateVars)),
    contextVariable: last('contextVariable') ?? null,
    defaultImports: all(({ defaultImports }) => defaultImports),
    outputStyle: last('outputStyle') ?? 'full',
    allowedHosts,
    workspace: foldersOf(oldestFirst),
    cacheTtl: last('cacheTtl') ?? 0,
    // The network can answer differently each time, so a profile with hosts must declare itself deterministic.
    deterministic: last('deterministic') ?? allowedHosts.length === 0,
    disclosure: last('disclosure') ?? false,
    focus: last('focus') ?? null,
  };
}

/** The last requirement for a package replaces earlier ones. */
function packagesOf(oldestFirst: readonly ProfileDefinition[]): string[] {
  const nameOf = (text: string) => (/^[\w.-]+/.exec(text)?.[0] ?? text).toLowerCase().replace(/[-_.]+/g, '-');
  return [
    ...new Map(
      oldestFirst.flatMap(({ packages = [] }) => packages.map((one) => [nameOf(one), one])),
    ).values(),
  ];
}

/** "none" revokes inherited hosts. */
function hostsOf(oldestFirst: readonly ProfileDefinition[]): string[] {
  let hosts: string[] = [];
  for (const { network } of oldestFirst) {
    if (network === 'none') hosts = [];
    else if (network !== undefined) hosts = [...new Set([...hosts, ...network.allow])];
  }
  return hosts;
}

function foldersOf(oldestFirst: readonly ProfileDefinition[]): Profile['workspace'] {
  const folders = oldestFirst.flatMap(({ workspace }) => workspace ?? []);
  return folders.filter(
    ({ name, path }, index) =>
      folders.findIndex((other) => other.name === name && other.path === path) === index,
  );
}

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
