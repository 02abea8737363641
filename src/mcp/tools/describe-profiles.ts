import type { Profile } from '../../contract/profile.js';
import { isPersona, type Profiles } from '../../gate/profiles/profiles.js';

/** More than these are for list_profiles to tell. */
const MAX_LINES = 20;

export const usablePersonas = ({ usable }: Profiles): Profile[] => usable.filter(isPersona);

/** A line for each; personas, of which execute_strategic_code tells, by their names alone. */
export function describeProfiles(profiles: Profiles): string {
  const personas = usablePersonas(profiles).map(({ name }) => name);
  const others = profiles.usable.filter((profile) => !isPersona(profile));
  return [
    ...listLines(others, ({ description }) => description),
    ...(personas.length > 0 ? [`personas: ${personas.slice(0, MAX_LINES).join(', ')}`] : []),
  ].join('\n');
}

export const describePersonas = (profiles: Profiles) =>
  listLines(usablePersonas(profiles), aboutPersona).join('\n');

/** The role, as the code sees it as well, and the focus. */
export const aboutPersona = ({ description, templateVars, focus }: Profile) =>
  [roleOf({ templateVars }) ?? description, focus].filter(Boolean).join(', ');

export function roleOf({ templateVars }: Pick<Profile, 'templateVars'>): string | null {
  const { role } = templateVars as { role?: unknown };
  return typeof role === 'string' ? role : null;
}

function listLines(profiles: readonly Profile[], about: (profile: Profile) => string): string[] {
  const left = profiles.length - MAX_LINES;
  return [
    ...profiles
      .slice(0, MAX_LINES)
      .map((profile) => [profile.name, about(profile)].filter(Boolean).join(': ')),
    ...(left > 0 ? [`and ${left} more, see list_profiles`] : []),
  ];
}
