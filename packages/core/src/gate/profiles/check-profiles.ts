import { statSync } from 'node:fs';
import { fileProblem } from '../../base/files.js';
import type { Limits } from '../../contract/limits.js';
import type { Profile, ProfileDefinition } from '../../contract/profile.js';
import {
  byLine,
  type Chain,
  inherit,
  type Locate,
  type ProfileProblem,
  type ProfileSource,
  type RuleProblem,
} from './inherit.js';
import { type ProfileSettings, readChains, unknownNames } from './load-profiles.js';
import { BUILT_IN } from './profiles.js';

/** The result of checking a profiles file: errors prevent its use or its runs. */
export interface ProfilesCheck {
  file: string | null;
  /** The profiles of the file; all profiles without a file. */
  profiles: Profile[];
  errors: ProfileProblem[];
  warnings: ProfileProblem[];
}

/** A check of something outside of the file, such as the existing environments. */
export type FurtherCheck = (source: ProfileSource, profile: Profile) => RuleProblem[];

/** Checks a file as a server with these settings and limits would use it. */
export function checkProfiles(
  file: string | undefined,
  settings: ProfileSettings,
  ceiling: Limits,
  further: FurtherCheck = () => [],
): ProfilesCheck {
  const { chains, problems, locate, isReadable } = readChains(file);
  const own = [...chains.values()]
    .filter(([source]) => file === undefined || source.origin !== BUILT_IN)
    .map((chain) => ({ chain, profile: inherit(chain) }));
  const locateAll = (check: (chain: Chain, profile: Profile) => RuleProblem[]) =>
    own.flatMap(({ chain, profile }) => placed(check(chain, profile), profile, locate));
  // Settings can be checked only if the profile names of the file are known.
  const unknown = isReadable ? unknownNames(settings, [...chains.keys()]) : [];
  const errors = [
    ...problems,
    ...locateAll(([source], profile) => [...folderProblems(source), ...further(source, profile)]),
    ...unknown.map((problem) => ({ profile: null, key: null, line: null, problem })),
  ];
  const warnings = locateAll((chain, profile) => [
    ...doubts(profile, chain),
    ...ceilingDoubts(profile, chain, ceiling),
  ]);
  return {
    file: file ?? null,
    profiles: own.map(({ profile }) => profile),
    errors: errors.sort(byLine),
    warnings: warnings.sort(byLine),
  };
}

const placed = (found: RuleProblem[], { name }: Profile, locate: Locate): ProfileProblem[] =>
  found.map(({ path, problem }) => ({ profile: name, ...locate(name, path), problem }));

/** Reports a folder at the profile that names it, not at those that inherit it. */
function folderProblems({ definition: { workspace = [] } }: ProfileSource): RuleProblem[] {
  return workspace.flatMap(({ name, path }, index) => {
    const wrong = (problem: string) => [{ path: ['workspace', index], problem: `"${name}" ${problem}` }];
    try {
      return statSync(path).isDirectory() ? [] : wrong(`is not a folder: ${path}`);
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      return wrong(`cannot be read: ${missing ? 'there is no' : fileProblem(error)} ${path}`);
    }
  });
}

type Doubt = (profile: Profile, definition: ProfileDefinition) => RuleProblem[];

/** Reports valid rules that are probably not intended. */
const doubts = (profile: Profile, [{ definition }]: Chain): RuleProblem[] =>
  [imports, builtins, names, packages, keeping, network, message].flatMap((look) =>
    look(profile, definition),
  );

const imports: Doubt = (profile, { allowedImports, defaultImports = [] }) => {
  const found: RuleProblem[] = [];
  const both = (profile.allowedImports ?? []).filter((name) => profile.blockedImports.includes(name));
  if (both.length > 0) {
    const problem = `${both.join(', ')} is blocked as well, and the block wins`;
    found.push({ path: ['allowedImports'], problem });
  }
  if (allowedImports?.length === 0) {
    const isAll = profile.allowedImports?.length === 0;
    const problem = isAll
      ? 'is empty, so that code can import nothing at all'
      : 'is empty, and adds nothing to what is inherited';
    found.push({ path: ['allowedImports'], problem });
  }
  for (const [index, text] of defaultImports.entries()) {
    const module = text.split(' ', 1)[0]!;
    if (!profile.blockedImports.includes(module)) continue;
    const problem = `${module} is blocked, and yet imported for the code`;
    found.push({ path: ['defaultImports', index], problem });
  }
  return found;
};

const builtins: Doubt = (_, { blockedBuiltins = [] }) =>
  blockedBuiltins.flatMap((name, index) =>
    PYTHON_BUILTINS.has(name)
      ? []
      : [{ path: ['blockedBuiltins', index], problem: `${name} is not a builtin of Python` }],
  );

const names: Doubt = (_, { templateVars = {}, contextVariable }) => [
  ...Object.keys(templateVars).flatMap((name) => nameDoubt(name, ['templateVars', name])),
  ...(contextVariable === undefined ? [] : nameDoubt(contextVariable, ['contextVariable'])),
];

function nameDoubt(name: string, path: string[]): RuleProblem[] {
  if (PYTHON_KEYWORDS.has(name))
    return [{ path, problem: `"${name}" is a Python keyword, so code cannot use the variable` }];
  if (PYTHON_BUILTINS.has(name))
    return [{ path, problem: `"${name}" hides the builtin of that name from the code` }];
  return [];
}

const packages: Doubt = (profile, definition) => {
  const { environment } = profile;
  if (environment === null || profile.packages.length === 0) return [];
  if (definition.environment === undefined && definition.packages === undefined) return [];
  const problem = `${profile.packages.join(', ')} is not installed: runs are in "${environment}"`;
  return [{ path: ['packages'], problem }];
};

const keeping: Doubt = ({ cacheTtl, deterministic }, definition) => {
  if (cacheTtl === 0 || deterministic) return [];
  const why = 'runs may end differently (network hosts, or deterministic: false)';
  if (definition.cacheTtl !== undefined) return [{ path: ['cacheTtl'], problem: `nothing is kept: ${why}` }];
  const by = definition.network !== undefined ? 'network' : 'deterministic';
  if (definition[by] === undefined) return [];
  const problem = `the inherited cache_ttl of ${cacheTtl} never applies: ${why}; set cache_ttl: 0`;
  return [{ path: [by], problem }];
};

const network: Doubt = ({ allowedHosts, blockedOperations }, definition) => {
  const found: RuleProblem[] = [];
  if (allowedHosts.length > 0 && blockedOperations.includes('network')) {
    const problem = 'hosts are allowed, but the operation "network" is blocked';
    found.push({ path: ['network'], problem });
  }
  if (typeof definition.network === 'object' && definition.network.allow.length === 0) {
    const problem =
      allowedHosts.length === 0
        ? 'is empty, so that no host can be reached; network: none says so'
        : 'is empty, and adds nothing to what is inherited';
    found.push({ path: ['network', 'allow'], problem });
  }
  return found;
};

const message: Doubt = (profile, { scopeMessage }) =>
  scopeMessage === undefined || hasRules(profile)
    ? []
    : [{ path: ['scopeMessage'], problem: 'is never used: the profile allows everything' }];

const hasRules = ({ allowedImports, blockedImports, blockedBuiltins, blockedOperations }: Profile) =>
  allowedImports !== null || blockedImports.length + blockedBuiltins.length + blockedOperations.length > 0;

/** Reports limits above those of the server, which have no effect. */
function ceilingDoubts({ limits }: Profile, [{ definition }]: Chain, ceiling: Limits): RuleProblem[] {
  const named = Object.keys(definition.limits ?? {}) as (keyof Limits)[];
  return named
    .filter((name) => (limits[name] ?? 0) > ceiling[name])
    .map((name) => ({
      path: ['limits', name],
      problem: `${limits[name]} is above the ${ceiling[name]} of the server, which holds`,
    }));
}

/** The builtin functions and types of every Python from 3.10 on. */
const PYTHON_BUILTINS: ReadonlySet<string> = new Set(
  `abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex
   copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr globals
   hasattr hash help hex id input int isinstance issubclass iter len license list locals map max memoryview min next
   object oct open ord pow print property quit range repr reversed round set setattr slice sorted staticmethod str
   sum super tuple type vars zip __import__ __build_class__`.split(/\s+/),
);

/** The keywords of Python. */
const PYTHON_KEYWORDS: ReadonlySet<string> = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global
   if import in is lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
);
