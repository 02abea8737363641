import { statSync } from 'node:fs';
import { fileProblem } from '../../base/files.js';
import type { Limits } from '../../contract/limits.js';
import type { Profile } from '../../contract/profile.js';
import { BUILT_IN } from './built-in.js';
import { ceilingDoubts, doubts } from './doubts.js';
import { type Chain, inherit, type Said } from './inherit.js';
import { type ProfileSettings, readChains, unknownNames } from './load-profiles.js';
import { byLine, type Locate, type ProfileProblem } from './problem.js';
import type { RuleProblem } from './rule-problems.js';

/** What there is to say about a profiles file: errors keep it from being used, or its runs from being made. */
export interface ProfilesCheck {
  file: string | null;
  /** Those of the file; all where there is none. */
  profiles: Profile[];
  errors: ProfileProblem[];
  warnings: ProfileProblem[];
}

/** What only somebody else can look at, such as the environments that are there. */
export type FurtherCheck = (said: Said, profile: Profile) => RuleProblem[];

/** Checks a file as a server with these settings and limits would use it. */
export function checkProfiles(
  file: string | undefined,
  settings: ProfileSettings,
  ceiling: Limits,
  further: FurtherCheck = () => [],
): ProfilesCheck {
  const { chains, problems, locate, isReadable } = readChains(file);
  const own = [...chains.values()]
    .filter(([said]) => file === undefined || said.origin !== BUILT_IN)
    .map((chain) => ({ chain, profile: inherit(chain) }));
  const told = (look: (chain: Chain, profile: Profile) => RuleProblem[]) =>
    own.flatMap(({ chain, profile }) => placed(look(chain, profile), profile, locate));
  // Without the names of the file, nobody can say whether a setting names one of them.
  const unknown = isReadable ? unknownNames(settings, [...chains.keys()]) : [];
  const errors = [
    ...problems,
    ...told(([said], profile) => [...folderProblems(said), ...further(said, profile)]),
    ...unknown.map((problem) => ({ profile: null, key: null, line: null, problem })),
  ];
  const warnings = told((chain, profile) => [
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

/** Each where it is named: those who inherit a folder need not be told of it, too. */
function folderProblems({ definition: { workspace = [] } }: Said): RuleProblem[] {
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
