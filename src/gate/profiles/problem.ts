/** What is wrong with a profiles file, at one place. */
export interface ProfileProblem {
  profile: string | null;
  key: string | null;
  line: number | null;
  problem: string;
}

/** Such as: line 4, profile "reports", cache_ttl: must be at least 0; it is -1. */
export function problemText({ profile, key, line, problem }: ProfileProblem): string {
  const where = [
    ...(line === null ? [] : [`line ${line}`]),
    ...(profile === null ? [] : [`profile ${JSON.stringify(profile)}`]),
    ...(key === null ? [] : [key]),
  ];
  return where.length === 0 ? problem : `${where.join(', ')}: ${problem}`;
}

/** Such as network.allow[0]; null for the profile itself. */
export const keyText = (path: readonly (string | number)[]): string | null =>
  path.length === 0
    ? null
    : path
        .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
        .join('');

/** Where something of a profile is in its file, and how it is spelled there. */
export type Locate = (
  profile: string,
  path: readonly (string | number)[],
) => Pick<ProfileProblem, 'key' | 'line'>;

export const byLine = (one: ProfileProblem, other: ProfileProblem): number =>
  (one.line ?? 0) - (other.line ?? 0);
