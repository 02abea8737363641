import type { CodeSummary, Disclosure } from '../contract/disclosure.js';
import type { Isolation } from '../contract/outcome.js';
import type { Profile } from '../contract/profile.js';
import { isPersona, isStrategic } from './profiles/profiles.js';

interface ToDisclose {
  /** The displayed server name; derived from the profile if not given. */
  server?: string | undefined;
  capability: string | null;
  profile: Profile;
  /** null if the code was not analysed. */
  summary: CodeSummary | null;
  isolation: Isolation;
  /** The code was denied: it did not run, or ended where it left its scope. */
  wasRefused?: boolean;
}

const serverOf = (profile: Profile): string => (isStrategic(profile) ? 'strategic-python' : 'pungi');

/** Builds the disclosure of a run, as data and as text. */
export function disclose({
  server,
  capability,
  profile,
  summary,
  isolation,
  wasRefused = false,
}: ToDisclose): Disclosure {
  const name = server ?? serverOf(profile);
  const persona = isPersona(profile) ? profile.name : null;
  const securityLevel = wasRefused && isolation.tier !== null ? REFUSED_SECURITY : securityOf(isolation);
  const lines = [
    `🔧 Accessing MCP Server: ${name}${capability === null ? '' : ` (${oneLine(capability)})`}`,
    `*${wasRefused ? 'Refused' : 'Executing'} ${purposeOf(profile, persona)}${wasRefused ? '' : '...'}*`,
    `*Code scope: ${summary === null ? 'not analysed' : oneLine(summary.text)}*`,
    `*Security: ${securityLevel}*`,
  ];
  return {
    server: name,
    capability,
    profile: profile.name,
    persona,
    codeSummary: summary,
    securityLevel,
    text: lines.join('\n'),
  };
}

function purposeOf(profile: Profile, persona: string | null): string {
  if (persona !== null) return `strategic Python analysis for ${persona} persona`;
  if (isStrategic(profile)) return 'strategic Python analysis';
  return `Python with the profile ${profile.name}`;
}

/** A violation may appear while code runs, after code inside of the scope has run. */
const REFUSED_SECURITY = 'Nothing was executed beyond the scope of the profile';

/** Describes the isolation in force: a run without isolation is never called sandboxed. */
function securityOf({ tier }: Isolation): string {
  switch (tier) {
    case 'namespace':
      return 'Sandboxed execution with resource limits';
    case 'landlock':
      return 'Sandboxed execution with resource limits (landlock and seccomp, without namespaces)';
    case 'process':
    case 'spawn':
      return 'Resource limits only, no isolation: the code ran as a plain process';
    case null:
      return 'Nothing was executed';
  }
}

/** Keeps text of the caller or the code on its line, so that it cannot forge another one. */
const oneLine = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
