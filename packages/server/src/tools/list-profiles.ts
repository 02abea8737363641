import type { Config } from '@pungi/core/config';
import { Limits, Operation, OUTPUT_STYLES, type Profile } from '@pungi/core/contract';
import { CAPABILITIES, isPersona, isStrategic, limitsOf, type Profiles, tighten } from '@pungi/core/gate';
import { z } from 'zod';
import { advertiseArguments, READ_ONLY } from './advertise.js';
import { isStrategicOnly, roleOf } from './descriptions.js';
import { answer, reply, type Tool } from './tool.js';

const Arguments = z.strictObject({
  capability: z.enum(CAPABILITIES, { error: () => `must be one of ${CAPABILITIES.join(', ')}` }).nullish(),
});

const names = z.array(z.string());

const ListedProfile = z.object({
  name: z.string(),
  description: z.string(),
  isDefault: z.boolean().describe('runs that name no profile use it'),
  isPersona: z.boolean().describe('execute_strategic_code takes it as persona'),
  capabilities: names.describe('what execute_strategic_code may do for it'),
  role: z.string().nullable(),
  focus: z.string().nullable(),
  environment: z.string().nullable().describe('the environment of its runs; null: they choose'),
  packages: names.describe('the packages of its own environment'),
  limits: Limits.describe('what its runs may use on this server'),
  allowedImports: names.nullable().describe('null: everything that is not blocked'),
  blockedImports: names,
  blockedBuiltins: names,
  blockedOperations: z.array(Operation),
  defaultImports: names.describe('already imported for the code: "module", or "module as name"'),
  variables: names.describe('variables of the code in addition to `context`'),
  allowedHosts: names.describe('hosts reachable over HTTP and HTTPS'),
  data: names.describe('folders with data: data/NAME in the work folder'),
  cacheTtl: z.number().int().describe('seconds that an outcome is cached; 0: never'),
  outputStyle: z.enum(OUTPUT_STYLES),
  disclosure: z.boolean().describe('replies disclose what was run, for whom and how'),
});
type ListedProfile = z.infer<typeof ListedProfile>;

export const listProfiles = (config: Config, profiles: Profiles): Tool => ({
  name: 'list_profiles',
  title: 'List profiles',
  description: 'List the profiles of runs: rules, limits, packages, data, hosts, variables.',
  annotations: READ_ONLY,
  inputSchema: advertiseArguments(Arguments, ['capability']),
  answer: (args, call) =>
    answer(Arguments, args, call, async ({ capability }) => {
      const shown = profiles.usable.filter((profile) => !isStrategicOnly(config) || isStrategic(profile));
      const all = shown.map((profile) => show(profile, config));
      const listed = {
        profiles: all.filter(({ capabilities }) => !capability || capabilities.includes(capability)),
      };
      return reply(call, listed, ({ profiles: fitting }) => fitting.map(formatProfile).join('\n'));
    }),
});

/** Leaves out paths of the host. */
const show = (profile: Profile, config: Config): ListedProfile => ({
  name: profile.name,
  description: profile.description,
  isDefault: profile.name === config.defaultProfile,
  isPersona: isPersona(profile),
  capabilities: isPersona(profile) ? [...CAPABILITIES] : [],
  role: roleOf(profile),
  focus: profile.focus,
  environment: profile.environment,
  packages: [...profile.packages],
  limits: tighten(limitsOf(config), profile.limits),
  allowedImports: profile.allowedImports === null ? null : [...profile.allowedImports],
  blockedImports: [...profile.blockedImports],
  blockedBuiltins: [...profile.blockedBuiltins],
  blockedOperations: [...profile.blockedOperations],
  defaultImports: [...profile.defaultImports],
  variables: [
    ...Object.keys(profile.templateVars),
    ...(profile.contextVariable === null ? [] : [profile.contextVariable]),
  ],
  allowedHosts: [...profile.allowedHosts],
  data: profile.workspace.map(({ name }) => name),
  cacheTtl: profile.cacheTtl,
  outputStyle: profile.outputStyle,
  disclosure: profile.disclosure,
});

function formatProfile(profile: ListedProfile): string {
  const { name, description, isDefault, isPersona: isOne, role, focus, limits } = profile;
  const about = isOne ? ['persona', role, focus].filter(Boolean).join(', ') : description;
  const some = (what: string, list: readonly string[]) =>
    list.length === 0 ? [] : [`${what} ${list.join(', ')}`];
  return [
    isDefault ? `${name} (default)` : name,
    ...(about === '' ? [] : [about]),
    ...(profile.environment === null
      ? some('packages', profile.packages)
      : [`environment ${profile.environment}`]),
    `${limits.timeoutMs / 1000} s, ${limits.memoryMb} MB`,
    ...(profile.allowedImports === null
      ? []
      : [`imports only ${profile.allowedImports.join(', ') || 'nothing'}`]),
    ...some('not', profile.allowedImports === null ? profile.blockedImports : []),
    ...some('already imported:', profile.defaultImports),
    ...some('no operations of kind', profile.blockedOperations),
    ...some('hosts', profile.allowedHosts),
    ...some(
      'data',
      profile.data.map((folder) => `data/${folder}`),
    ),
    ...(profile.cacheTtl === 0 ? [] : [`outcomes kept for ${profile.cacheTtl} s`]),
  ].join('  ');
}
