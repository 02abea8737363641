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
import {
  type AvailableFile,
  checkDataConflict,
  checkFits,
  checkScriptConflict,
  listWorkspace,
  scriptName,
  type WorkspaceData,
} from './workspace-data.js';

/** An admitted run, its environment, and whether its outcome may be cached. */
export interface Admitted extends AdmittedRun {
  /** null for Pungi's own runs. */
  profile: Profile | null;
  /** The environment that the profile or the request names. */
  venvName: string | undefined;
  /** Remarks for the caller, such as lowered limits. */
  notes: readonly string[];
  /** Whether the request named the environment. */
  isVenvAsked: boolean;
  /** The packages of the environment to create if none is named. */
  packages: readonly string[];
  /** The purpose of the run, as the caller named it. */
  capability: string | null;
  /** How long the outcome may be reused for the same run; 0: never. */
  cacheSeconds: number;
  /** Run it even if an outcome is cached. */
  isFresh: boolean;
  /** Fingerprint of the profile's data folders. */
  dataFingerprint: readonly string[];
  /** "new", or the handle of a session. */
  session?: string;
}

const NO_DATA: WorkspaceData = { files: [], fingerprint: [] };

/** Decides whether a request may run, and how. Throws INVALID_INPUT or DENIED with the reason. */
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
    if (profile.workspace.length > 0) checkDataConflict(request, profile.name);
    const { job, notes, isRaised } = await this.#job(request, profile);
    const data = profile.workspace.length > 0 ? await listWorkspace(profile.workspace) : NO_DATA;
    const rules = rulesOf(profile);
    const { session } = request;
    if (session !== undefined && rules) throw scopedSession(profile.name);
    const own = poolSpecOf(profile, request);
    const poolSpec = isRaised ? { ...(own ?? PLAIN), isRaised } : own;
    return {
      profile,
      venvName,
      notes,
      isVenvAsked: request.venvName !== undefined,
      packages: profile.environment === null ? profile.packages : [],
      capability: request.capability ?? null,
      cacheSeconds:
        profile.deterministic && data.fingerprint !== null && session === undefined ? profile.cacheTtl : 0,
      isFresh: request.fresh ?? false,
      dataFingerprint: data.fingerprint ?? [],
      ...(poolSpec && { poolSpec }),
      ...(session !== undefined && { session }),
      job: {
        ...job,
        ...(session !== undefined && { session: true }),
        variables: variablesOf(profile, request, data.files),
        ...(profile.defaultImports.length > 0 && { imports: profile.defaultImports }),
        ...(profile.disclosure && { summarize: true }),
        ...(rules && { rules }),
      },
    };
  }

  /** Admits Pungi's own runs, such as listing packages: sandbox and limits apply, no profile does. */
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
    const { package: within } = request;
    const files = (request.files ?? []).map(({ path, text, base64 }) => ({
      path,
      base64: base64 ?? Buffer.from(text ?? '').toString('base64'),
    }));
    checkScriptConflict(within ? `${within.replaceAll('.', '/')}/${filename}` : filename, code, files);
    const job = {
      code,
      filename,
      ...(within !== undefined && { package: within }),
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

/** Rules are checked on whole scripts: what one run left behind could break them in the next. */
const scopedSession = (profile: string) =>
  new PungiError(
    'DENIED',
    `The profile "${profile}" restricts what code may do, and checks each script as a whole: it allows no sessions. Leave out session, or use another profile.`,
    { profile },
  );

/** A profile that determines the environment of its runs leaves no choice. */
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

/** Parses a request. Throws INVALID_INPUT with every fault. */
export function parseRequest(raw: unknown): RunRequest {
  if (typeof raw !== 'object' || raw === null) throw invalid([`expected an object, got ${kindOf(raw)}`]);
  const many = tooMany(raw);
  if (many.length > 0) throw invalid(many);
  const plain = parsePlain(raw);
  if (plain !== undefined) return plain;
  const parsed = RunRequest.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw invalid(jsonFaults(parsed.error, RunRequest));
}

const invalid = (issues: string[]) =>
  new PungiError('INVALID_INPUT', `The request is not valid: ${issues.join('; ')}.`, { issues });

/**
 * Parses a request that is a plain object without faults. Every run waits for this, and most requests have two or
 * three fields, so only those that are present are checked.
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

/** Returns the rules that the worker enforces, or undefined if the profile has none. */
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
 * Returns the workers that a profile needs, or undefined if the default ones suffice. If a profile restricts imports,
 * only modules that it names are preloaded.
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

/** Returns the variables of the code. Later ones win: a profile never hides what the request passes. */
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

/**
 * The most entries of lists and maps in a request. Checked before the schema, which would report each entry
 * separately.
 */
const MOST: Readonly<Record<string, number>> = {
  inputData: 100_000,
  argv: 1024,
  files: 1000,
  preload: 1000,
  packages: 200,
  env: 1000,
  limits: 100,
};
const MOST_ARGUMENTS = 1000;
/** More invalid lines than this are reported as one fault. */
const MOST_FAULTY = 20;

/** Returns the faults of oversized fields; the schema reports anything that is not an object. */
export function tooMany(request: unknown): string[] {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return [];
  const count = Object.keys(request).length;
  if (count > MOST_ARGUMENTS) return [`has ${count} arguments; expected at most ${MOST_ARGUMENTS}`];
  return Object.entries(MOST).flatMap(([name, most]) => {
    const value = (request as Record<string, unknown>)[name];
    if (typeof value !== 'object' || value === null) return [];
    const size = Array.isArray(value) ? value.length : Object.keys(value).length;
    if (size > most)
      return [`${name}: must have at most ${most} ${Array.isArray(value) ? 'items' : 'names'}`];
    if (!Array.isArray(value)) return [];
    return name === 'inputData' ? faultyLines(value) : name === 'files' ? faultyFiles(value) : [];
  });
}

function faultyLines(lines: readonly unknown[]): string[] {
  const faulty = lines.reduce<number>((sum, line) => sum + (typeof line === 'string' ? 0 : 1), 0);
  return faulty > MOST_FAULTY ? [`inputData: ${faulty} items are not texts`] : [];
}

function faultyFiles(files: readonly unknown[]): string[] {
  const index = files.findIndex((file) => Object.keys(Object(file)).length > MOST_FAULTY);
  return index < 0 ? [] : [`files.${index}: must have a path, and text or base64, and nothing else`];
}
