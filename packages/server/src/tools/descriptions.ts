import type { ToolAnnotations } from '@modelcontextprotocol/server';
import { type Config, isServed } from '@pungi/core/config';
import type { Profile } from '@pungi/core/contract';
import { isPersona, type Profiles } from '@pungi/core/gate';
import { describeImports } from './venv-arguments.js';

const seconds = (ms: number) => `${ms / 1000} s`;

/** Describes what an agent must know to write code that works at the first attempt. */
export function describeSandbox(config: Config, { usable }: Profiles): string {
  const network = usable.some(({ allowedHosts }) => allowedHosts.length > 0)
    ? 'no network but the hosts that its profile allows'
    : 'no network';
  const isolation = config.allowUnsandboxed
    ? 'Every call is a fresh process. This server may run without isolation: health_check shows the tier.'
    : `Every call is a fresh sandboxed process: ${network}, no access to the host, no state kept${isServed(config, 'sessions') ? ' without session' : ''}.`;
  return [
    isolation,
    config.artifactMb > 0 && isServed(config, 'files')
      ? 'Its work folder has the given files; files that it leaves there are kept for read_file.'
      : 'Its work folder has the given files and is deleted afterwards: print or return what you need.',
    describeImports(config),
    `Limits: ${seconds(config.executionTimeoutMs)} wall time, ${seconds(config.maxCpuMs)} CPU time, ${config.maxMemoryMb} MB memory, ` +
      `${config.maxDiskMb} MB disk, ${config.maxProcesses} processes.`,
  ].join('\n');
}

/**
 * The process tier does not isolate, so there code can change everything that the server's user can. Inline dependencies come
 * from the package index, although the code itself has no network.
 */
export const executeAnnotations = ({ allowUnsandboxed }: Config): ToolAnnotations => ({
  destructiveHint: allowUnsandboxed,
});

/** Profiles beyond this number are left to list_profiles. */
const MAX_LINES = 20;

export const usablePersonas = ({ usable }: Profiles): Profile[] => usable.filter(isPersona);

/** Describes one other profile per line; personas only by name, because execute_strategic_code describes them. */
export function describeProfiles(profiles: Profiles, defaultProfile: string): string {
  const personas = usablePersonas(profiles).map(({ name }) => name);
  const isPlain = ({ name }: Profile) => name === defaultProfile && name === 'default';
  const others = profiles.usable.filter((profile) => !isPersona(profile) && !isPlain(profile));
  return [
    ...listLines(others, ({ description }) => description),
    ...(personas.length > 0 ? [`personas: ${personas.slice(0, MAX_LINES).join(', ')}`] : []),
  ].join('\n');
}

export const describePersonas = (profiles: Profiles) =>
  listLines(usablePersonas(profiles), roleIn).join('\n');

/** The role, as the code sees it, and the focus. */
export const aboutPersona = (persona: Profile) => [roleIn(persona), persona.focus].filter(Boolean).join(', ');

const roleIn = ({ templateVars, description }: Profile) => roleOf({ templateVars }) ?? description;

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

/** Whether strategic analysis is the only way to run code. */
export const isStrategicOnly = (config: Config): boolean =>
  isServed(config, 'strategic') && !isServed(config, 'run');

/** The name that clients see for this server: two of them with different tools are told apart. */
export function serverNameOf({ toolsets }: Config) {
  if (toolsets.length === 0) return { name: 'pungi', title: 'Pungi' };
  if (toolsets.join() === 'strategic') return { name: 'strategic-python', title: 'Strategic Python' };
  return { name: ['pungi', ...toolsets].join('-'), title: `Pungi: ${toolsets.join(', ')}` };
}
