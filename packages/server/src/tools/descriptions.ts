import type { ToolAnnotations } from '@modelcontextprotocol/server';
import type { Config } from '@pungi/core/config';
import type { Profile } from '@pungi/core/contract';
import { isPersona, type Profiles } from '@pungi/core/gate';
import { describeImports } from './venv-arguments.js';

const seconds = (ms: number) => `${ms / 1000} s`;
const kilobytes = (bytes: number) => `${Math.floor(bytes / 1024)} KB`;

/** What an agent must know to write code that works here at the first attempt. */
export function describeSandbox(config: Config, { usable }: Profiles): string {
  const network = usable.some(({ allowedHosts }) => allowedHosts.length > 0)
    ? 'no network but the hosts that its profile allows'
    : 'no network';
  const isolation = config.allowUnsandboxed
    ? 'Every call is a fresh process. This server may run without isolation: health_check tells the tier in force.'
    : `Every call is a fresh sandboxed process: ${network}, no access to the host, and nothing is kept for the next call.`;
  return [
    isolation,
    'Code starts in a private, writable work folder, which holds the given files and is gone afterwards: print or return what you need.',
    describeImports(config),
    `Limits, unless you ask for others: ${seconds(config.executionTimeoutMs)} wall time, ${seconds(config.maxCpuMs)} CPU time, ${config.maxMemoryMb} MB memory, ` +
      `${config.maxProcesses} processes and threads, ${config.maxDiskMb} MB disk, ` +
      `${kilobytes(config.maxOutputBytes)} kept of stdout and of stderr.`,
    'A failure is an error result whose first line is a code and a sentence, such as PYTHON_ERROR or EXECUTION_TIMEOUT.',
  ].join('\n');
}

/**
 * Honest about the process tier, which does not isolate: there, code can reach whatever the server's user can. And about
 * inline dependencies: the code itself has no network, but what it asks for comes from the package index.
 */
export const executeAnnotations = ({ allowUnsandboxed }: Config): ToolAnnotations => ({
  readOnlyHint: false,
  destructiveHint: allowUnsandboxed,
  idempotentHint: false,
  openWorldHint: true,
});

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

/** Whether only the strategic tools are served. */
export const isAlone = ({ toolsets }: Config): boolean => toolsets.length > 0;

/** The name by which clients know the server. */
export const serverNameOf = (config: Config) =>
  isAlone(config)
    ? { name: 'strategic-python', title: 'Strategic Python' }
    : { name: 'pungi', title: 'Pungi' };
