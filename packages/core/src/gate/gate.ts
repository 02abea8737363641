import { kindOf } from '../base/arguments.js';
import { PungiError } from '../base/errors.js';
import { withoutMark } from '../base/files.js';
import { jsonFaults } from '../base/issue-text.js';
import type { Config } from '../config/schema.js';
import type { Profile, ScopeRules } from '../contract/profile.js';
import { RunRequest, TOGETHER } from '../contract/run.js';
import type { AdmittedRun } from '../engine/engine.js';
import { PLAIN, type PoolSpec } from '../engine/environment-ref.js';
import type { Job } from '../runtime/supervisor.js';
import { LimitRules } from './limits.js';
import { isStrategic, type Profiles } from './profiles/profiles.js';
import { readScript } from './script-file.js';
import { tooMany } from './too-many.js';
import {
  type AvailableFile,
  checkBesideData,
  checkBesideScript,
  checkFits,
  listWorkspace,
  scriptName,
  type WorkspaceData,
} from './workspace-data.js';

/** A run that may be made, where it is to be made, and whether its outcome may be kept. */
export interface Admitted extends AdmittedRun {
  /** null: one of Pungi's own runs. */
  profile: Profile | null;
  /** The environment that was named, by the profile or the request. */
  venvName: string | undefined;
  /** What a person should know of the decision: limits that were lowered. */
  notes: readonly string[];
  /** Whether it was the request that named it. */
  isVenvAsked: boolean;
  /** Where no environment is named: what the one to be made holds. */
  packages: readonly string[];
  /** What the run is for, in the caller's words. */
  capability: string | null;
  /** How long its outcome may stand for another run of the same; 0: not at all. */
  cacheSeconds: number;
  /** Run it, even where an outcome is kept. */
  isFresh: boolean;
  /** What the data of the profile looked like. */
  dataFingerprint: readonly string[];
}

const NO_DATA: WorkspaceData = { files: [], fingerprint: [] };

/** Decides whether a request may run, and with what. Throws INVALID_INPUT or DENIED with the reason. */
export class Gate {
  readonly #limits: LimitRules;

  constructor(
    private readonly config: Config,
    private readonly profiles: Profiles,
  ) {
    this.#limits = new LimitRules(config);
  }

  async admit(raw: unknown): Promise<Admitted> {
    const request = parseRequest(raw);
    const profile = this.#profileOf(request);
    const venvName = environmentOf(request, profile);
    if (profile.workspace.length > 0) checkBesideData(request, profile.name);
    const { job, notes, isRaised } = await this.#job(request, profile);
    const data = profile.workspace.length > 0 ? await listWorkspace(profile.workspace) : NO_DATA;
    const rules = rulesOf(profile);
    const own = poolSpecOf(profile, request);
    const poolSpec = isRaised ? { ...(own ?? PLAIN), isRaised } : own;
    return {
      profile,
      venvName,
      notes,
      isVenvAsked: request.venvName !== undefined,
      packages: profile.environment === null ? profile.packages : [],
      capability: request.capability ?? null,
      cacheSeconds: profile.deterministic && data.fingerprint !== null ? profile.cacheTtl : 0,
      isFresh: request.fresh ?? false,
      dataFingerprint: data.fingerprint ?? [],
      ...(poolSpec && { poolSpec }),
      job: {
        ...job,
        variables: variablesOf(profile, request, data.files),
        ...(profile.defaultImports.length > 0 && { imports: profile.defaultImports }),
        ...(profile.disclosure && { summarize: true }),
        ...(rules && { rules }),
      },
    };
  }

  /** For what Pungi itself runs, such as listing packages: the sandbox and the limits hold, no profile does. */
  async admitOwn(raw: unknown): Promise<Admitted> {
    const request = parseRequest(raw);
    const { job, notes, isRaised } = await this.#job(request, null);
    return {
      profile: null,
      venvName: request.venvName,
      notes,
      isVenvAsked: request.venvName !== undefined,
      packages: [],
      capability: null,
      cacheSeconds: 0,
      isFresh: true,
      dataFingerprint: [],
      ...(isRaised && { poolSpec: { ...PLAIN, isRaised } }),
      job,
    };
  }

  #profileOf({ profile: named }: RunRequest): Profile {
    const profile = this.profiles.get(named ?? this.config.defaultProfile);
    if (this.profiles.mayUse(profile.name)) return profile;
    const usable = this.profiles.usable.map(({ name }) => name);
    const why =
      named === undefined
        ? `A run must name its profile here: the default one, "${profile.name}", may not be used.`
        : `The profile "${profile.name}" may not be used.`;
    const message = `${why} This server allows: ${usable.join(', ') || 'none'}.`;
    throw new PungiError('DENIED', message, { profile: profile.name, profiles: usable });
  }

  async #job(
    request: RunRequest,
    profile: Profile | null,
  ): Promise<{ job: Job; notes: string[]; isRaised: boolean }> {
    const { allowedEnv, scriptRoots } = this.config;
    const refused = Object.keys(request.env ?? {}).filter((name) => !allowedEnv.includes(name));
    if (refused.length > 0) {
      const message = `The variables ${refused.join(', ')} may not be set; the server allows ${allowedEnv.join(', ') || 'none'}.`;
      throw new PungiError('DENIED', message, { refused });
    }
    const { limits, lowered: notes } = this.#limits.grant(profile, request.limits);
    checkFits(request, limits);
    const code = withoutMark(request.code ?? (await readScript(request.file!, scriptRoots)));
    const filename = scriptName(request);
    const files = (request.files ?? []).map(({ path, text, base64 }) => ({
      path,
      base64: base64 ?? Buffer.from(text ?? '').toString('base64'),
    }));
    checkBesideScript(filename, code, files);
    const job = {
      code,
      filename,
      argv: request.argv ?? [],
      stdin: request.stdin ?? (request.inputData ?? []).map((line) => `${line}\n`).join(''),
      files,
      env: request.env ?? {},
      limits,
      variables: request.context === undefined ? {} : { context: request.context },
      ...(request.call && { call: request.call }),
    };
    return { job, notes, isRaised: this.#limits.isRaised(limits) };
  }
}

/** A profile that says where its runs are leaves no choice. */
function environmentOf({ venvName }: RunRequest, profile: Profile): string | undefined {
  const { name, environment, packages } = profile;
  if (venvName === undefined || venvName === environment) return environment ?? venvName;
  if (environment === null && packages.length === 0) return venvName;
  const own =
    environment === null
      ? `an environment made for its packages (${packages.join(', ')})`
      : `the environment "${environment}"`;
  throw new PungiError(
    'DENIED',
    `Runs with the profile "${name}" are in ${own}, not in "${venvName}". Name no environment, or another profile.`,
    { profile: name, venvName },
  );
}

/** A request of the right form. Throws INVALID_INPUT with every fault. */
export function parseRequest(raw: unknown): RunRequest {
  if (typeof raw !== 'object' || raw === null) throw invalid([`expected an object, got ${kindOf(raw)}`]);
  const many = tooMany(raw);
  if (many.length > 0) throw invalid(many);
  const plain = parsePlain(raw);
  if (plain !== undefined) return plain;
  const parsed = RunRequest.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw invalid(jsonFaults(parsed.error));
}

const invalid = (issues: string[]) =>
  new PungiError('INVALID_INPUT', `The request is not valid: ${issues.join('; ')}.`, { issues });

/**
 * The request, where it is a plain object without a fault. Every run waits for this, most have two or three of the fields, and
 * looking for the others takes longer than a tenth of some runs; so only those are checked that are there.
 */
function parsePlain(raw: unknown): RunRequest | undefined {
  if (typeof raw !== 'object' || raw === null || Object.getPrototypeOf(raw) !== Object.prototype) return;
  const request: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(raw)) {
    if (!Object.hasOwn(RunRequest.shape, name)) return;
    const field = RunRequest.shape[name as keyof RunRequest].safeParse(value);
    if (!field.success) return;
    request[name] = field.data;
  }
  return TOGETHER.every(([holds]) => holds(request as RunRequest)) ? (request as RunRequest) : undefined;
}

/** What the worker enforces; undefined where the profile has no rule. */
function rulesOf(profile: Profile): ScopeRules | undefined {
  const { name, allowedImports, blockedImports, blockedBuiltins, blockedOperations, defaultImports } =
    profile;
  const blocks = [...blockedImports, ...blockedBuiltins, ...blockedOperations];
  if (allowedImports === null && blocks.length === 0) return undefined;
  return {
    profile: name,
    message: profile.scopeMessage,
    allowedImports,
    blockedImports,
    blockedBuiltins,
    blockedOperations,
    defaultImports,
  };
}

/**
 * What the workers of a profile are parked with; undefined where they are like any other. Where a profile has rules for
 * imports, nothing is loaded that it does not name itself.
 */
function poolSpecOf(
  { preload: own, workspace, allowedHosts, allowedImports, blockedImports }: Profile,
  { preload: wanted = [] }: Pick<RunRequest, 'preload'> = {},
): PoolSpec | undefined {
  const isFree = allowedImports === null && blockedImports.length === 0;
  const preload = isFree ? [...own, ...wanted] : own;
  if (preload.length + workspace.length + allowedHosts.length === 0) return undefined;
  return { preload, data: workspace, allowedHosts };
}

/** What code sees by name. The later ones win: nothing of a profile hides what the request brought. */
function variablesOf(
  profile: Profile,
  { context }: RunRequest,
  files: readonly AvailableFile[],
): Record<string, unknown> {
  const { templateVars, contextVariable, workspace } = profile;
  return {
    ...templateVars,
    ...(context !== undefined && { context }),
    ...(contextVariable !== null && { [contextVariable]: context ?? {} }),
    ...((workspace.length > 0 || isStrategic(profile)) && { available_data: files }),
  };
}
