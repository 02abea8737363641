import type { Profile, ProfileDefinition } from '../../contract/profile.js';

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
