import type { ToolAnnotations } from '@modelcontextprotocol/server';
import type { Config } from '@pungi/core/config';
import type { Profile } from '@pungi/core/contract';
import { isPersona, type Profiles } from '@pungi/core/gate';
import { describeImports } from './venv-arguments.js';

const seconds = (ms: number) => `${ms / 1000} s`;
const kilobytes = (bytes: number) => `${Math.floor(bytes / 1024)} KB`;

/** Describes what an agent must know to write code that works at the first attempt. */
export function describeSandbox(config: Config, { usable }: Profiles): string {
  const network = usable.some(({ allowedHosts }) => allowedHosts.length > 0)
    ? 'no network but the hosts that its profile allows'
    : 'no network';
  const isolation = config.allowUnsandboxed
    ? 'Every call is a fresh process. This server may run without isolation: health_check shows the tier in use.'
    : `Every call is a fresh sandboxed process: ${network}, no access to the host, and no state is kept between calls.`;
  return [
    isolation,
    'Code starts in a private, writable work folder, which holds the given files and is deleted afterwards: print or return what you need.',
    describeImports(config),
    `Default limits: ${seconds(config.executionTimeoutMs)} wall time, ${seconds(config.maxCpuMs)} CPU time, ${config.maxMemoryMb} MB memory, ` +
      `${config.maxProcesses} processes and threads, ${config.maxDiskMb} MB disk, ` +
      `${kilobytes(config.maxOutputBytes)} kept of stdout and of stderr.`,
    'A failure is an error result whose first line is a code and a sentence, such as PYTHON_ERROR or EXECUTION_TIMEOUT.',
  ].join('\n');
}

/**
 * The process tier does not isolate, so there code can change everything that the server's user can. Inline dependencies come
 * from the package index, although the code itself has no network.
 */
export const executeAnnotations = ({ allowUnsandboxed }: Config): ToolAnnotations => ({
  readOnlyHint: false,
  destructiveHint: allowUnsandboxed,
  idempotentHint: false,
  openWorldHint: true,
});

/** Profiles beyond this number are left to list_profiles. */
const MAX_LINES = 20;

export const usablePersonas = ({ usable }: Profiles): Profile[] => usable.filter(isPersona);

/** Describes one profile per line; personas only by name, because execute_strategic_code describes them. */
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

/** The role, as the code sees it, and the focus. */
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
export const isStrategicOnly = ({ toolsets }: Config): boolean => toolsets.length > 0;

/** The name that clients see for this server. */
export const serverNameOf = (config: Config) =>
  isStrategicOnly(config)
    ? { name: 'strategic-python', title: 'Strategic Python' }
    : { name: 'pungi', title: 'Pungi' };
