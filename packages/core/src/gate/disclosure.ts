import type { CodeSummary, Disclosure } from '../contract/disclosure.js';
import type { Isolation } from '../contract/outcome.js';
import type { Profile } from '../contract/profile.js';
import { isPersona, isStrategic } from './profiles/profiles.js';

interface ToDisclose {
  /** The name that the line of the profile goes by, if not given. */
  server?: string | undefined;
  capability: string | null;
  profile: Profile;
  /** null where the code was not looked at. */
  summary: CodeSummary | null;
  isolation: Isolation;
  /** The code was denied: it was not run, or ended where it left its scope. */
  wasRefused?: boolean;
}

const serverOf = (profile: Profile): string => (isStrategic(profile) ? 'strategic-python' : 'pungi');

/** What a person should know about a run, as data and as a text to show. */
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
    `*Code scope: ${summary === null ? 'not looked at' : oneLine(summary.text)}*`,
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

/** A violation may show only while code runs, so that what was inside of the scope may have been run. */
const REFUSED_SECURITY = 'Nothing was executed beyond the scope of the profile';

/** What was really in force: a run that nothing isolated is never called sandboxed. */
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

/** What the caller or the code says stays within its line: it cannot write another of them. */
const oneLine = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
