import { resolve } from 'node:path';
import { PungiError } from '../base/errors.js';
import { withoutMark } from '../base/files.js';
import type { Config } from '../config/schema.js';
import type { Profile, ScopeRules, WorkspaceFolder } from '../contract/profile.js';
import type { LocalInputs, RunRequest } from '../contract/run.js';
import type { AdmittedRun } from '../engine/engine.js';
import { PLAIN, type PoolSpec } from '../engine/environment-ref.js';
import type { Job } from '../runtime/job.js';
import { dataFoldersOf, dataRootsOf } from './data-roots.js';
import { LimitRules } from './limits.js';
import { parseRequest } from './parse-request.js';
import { isStrategic, type Profiles } from './profiles/profiles.js';
import { foldersOfScripts, readScript } from './script-file.js';
import { liveInput, type OpenUpload, sourcesOf } from './sources.js';
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
  /** Packages that the request adds to those of its script. */
  added?: readonly string[];
  /** The purpose of the run, as the caller named it. */
  capability: string | null;
  /** How long the outcome may be reused for the same run; 0: never. */
  cacheSeconds: number;
  /** Run it even if an outcome is cached. */
  isFresh: boolean;
  /** The folders that it finds below data/. */
  data: readonly WorkspaceFolder[];
  /** Fingerprint of these folders. */
  dataFingerprint: readonly string[];
  /** "new", or the handle of a session. */
  session?: string;
}

interface AdmitOptions {
  /** Nobody waits for the run, so it may take longer. */
  isBackground?: boolean;
  /** Finds the caller's uploads. */
  openUpload?: OpenUpload;
}

const NO_DATA: WorkspaceData = { files: [], fingerprint: [] };

/** Decides whether a request may run, and how. Throws INVALID_INPUT or DENIED with the reason. */
export class Gate {
  readonly #limits: LimitRules;
  readonly #dataRoots: readonly WorkspaceFolder[];

  /** Throws CONFIGURATION_ERROR if a data root cannot be used. */
  constructor(
    private readonly config: Config,
    private readonly profiles: Profiles,
  ) {
    this.#limits = new LimitRules(config);
    this.#dataRoots = dataRootsOf(config);
  }

  /** The folders that runs with a profile, or with the default one, find below data/. */
  dataFolders(profile = this.profiles.get(this.config.defaultProfile)): readonly WorkspaceFolder[] {
    return this.profiles.mayUse(profile.name) ? dataFoldersOf(profile, this.#dataRoots) : this.#dataRoots;
  }

  /** `local`: inputs that no request can name. */
  async admit(raw: unknown, local: LocalInputs = {}, options: AdmitOptions = {}): Promise<Admitted> {
    const request = parseRequest(raw);
    const profile = this.#profileOf(request);
    const venvName = environmentOf(request, profile);
    const folders = this.dataFolders(profile);
    checkDataConflict([...(request.files ?? []), ...(local.files ?? [])], folders);
    const { job, notes, isRaised, scripts } = await this.#job(request, profile, local, options);
    const data = profile.workspace.length > 0 ? await listWorkspace(profile.workspace) : NO_DATA;
    const rules = rulesOf(profile);
    // Rules are checked in the script alone, so under rules it runs alone.
    const visible = rules ? folders : [...folders, ...scripts];
    const isRepeatable = profile.deterministic && request.session === undefined && !job.sources && !job.live;
    const cacheSeconds = isRepeatable ? profile.cacheTtl : 0;
    const isAllListed = visible.length === profile.workspace.length || cacheSeconds === 0;
    const { fingerprint } = isAllListed ? data : await listWorkspace(visible);
    const { session } = request;
    if (session !== undefined && rules) throw scopedSession(profile.name);
    const own = poolSpecOf(profile, visible, request);
    const poolSpec = isRaised ? { ...(own ?? PLAIN), isRaised } : own;
    return {
      profile,
      venvName,
      notes,
      isVenvAsked: request.venvName !== undefined,
      packages: profile.environment === null ? profile.packages : [],
      ...(request.packages && { added: request.packages }),
      capability: request.capability ?? null,
      cacheSeconds: fingerprint === null ? 0 : cacheSeconds,
      isFresh: request.fresh ?? false,
      ...(request.retry && { retry: true }),
      ...(request.labels && { labels: request.labels }),
      data: folders,
      dataFingerprint: fingerprint ?? [],
      ...(poolSpec && { poolSpec }),
      ...(session !== undefined && { session }),
      job: {
        ...job,
        ...(session !== undefined && { session: true }),
        ...(request.interactive && { interactive: true }),
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
      data: [],
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
    local: LocalInputs = {},
    { isBackground = false, openUpload = noUploads }: AdmitOptions = {},
  ): Promise<{ job: Job; notes: string[]; isRaised: boolean; scripts: PoolSpec['data'] }> {
    const { allowedEnv } = this.config;
    const refused = Object.keys(request.env ?? {}).filter((name) => !allowedEnv.includes(name));
    if (refused.length > 0) {
      const message = `The variables ${refused.join(', ')} may not be set; the server allows ${allowedEnv.join(', ') || 'none'}.`;
      throw new PungiError('DENIED', message, { refused });
    }
    const { limits, lowered: notes } = this.#limits.grant(profile, request.limits, isBackground);
    const sources = await sourcesOf(request, local, openUpload);
    checkFits(request, limits, sources);
    const filename = scriptName(request);
    const { code, place, scripts } = await this.#script(request, filename, local);
    const { package: within } = request;
    const files = (request.files ?? [])
      .filter(({ upload }) => upload === undefined)
      .map(({ path, text, base64 }) => ({
        path,
        base64: base64 ?? Buffer.from(text ?? '').toString('base64'),
      }));
    const paths = sources.flatMap(({ path }) => (path === null ? [] : [{ path, base64: '' }]));
    checkScriptConflict(within ? `${within.replaceAll('.', '/')}/${filename}` : filename, code, [
      ...files,
      ...paths,
    ]);
    const job = {
      code,
      filename,
      ...(within !== undefined && { package: within }),
      ...(place && { place }),
      argv: request.argv ?? [],
      stdin: request.stdin ?? (request.inputData ?? []).map((line) => `${line}\n`).join(''),
      files,
      ...(sources.length > 0 && { sources }),
      ...(local.stdinStream && { live: liveInput(request, local) }),
      env: request.env ?? {},
      limits,
      variables: request.context === undefined ? {} : { context: request.context },
      ...(request.call && { call: request.call }),
      ...(request.value === false && { hasValue: false }),
    };
    return { job, notes, isRaised: this.#limits.isRaised(limits), scripts };
  }

  /** Returns the code, and where the script lies if the run can read that folder. */
  async #script(
    { code, file }: RunRequest,
    filename: string,
    { scriptFolder }: LocalInputs,
  ): Promise<{ code: string; place?: Job['place']; scripts: PoolSpec['data'] }> {
    if (code !== undefined) {
      if (scriptFolder === undefined) return { code: withoutMark(code), scripts: [] };
      const folder = '.script';
      const scripts = [{ name: folder, path: resolve(scriptFolder) }];
      return { code: withoutMark(code), place: { folder, path: filename }, scripts };
    }
    const { scriptRoots } = this.config;
    const found = await readScript(file!, scriptRoots);
    // All of them, so that one pool serves all scripts.
    const scripts = await foldersOfScripts(scriptRoots);
    const folder = scripts.find(({ path }) => path === found.root)?.name;
    const place = folder === undefined ? {} : { place: { folder, path: found.path } };
    return { code: withoutMark(found.code), ...place, scripts };
  }
}

const noUploads: OpenUpload = () => {
  throw new PungiError('INVALID_INPUT', 'No uploads are kept here; use text or base64.');
};

/** Rules are checked on whole scripts: what one run left behind could break them in the next. */
const scopedSession = (profile: string) =>
  new PungiError(
    'DENIED',
    `The profile "${profile}" restricts what code may do, and checks each script as a whole: it allows no sessions. Run each script by itself, or use another profile.`,
    { profile },
  );

/** A profile that determines the environment of its runs leaves no choice. */
function environmentOf({ venvName, packages: added }: RunRequest, profile: Profile): string | undefined {
  const { name, environment, packages } = profile;
  if (environment === null && packages.length === 0) return venvName;
  if (added === undefined && (venvName === undefined || venvName === environment))
    return environment ?? undefined;
  const own =
    environment === null
      ? `an environment made for its packages (${packages.join(', ')})`
      : `the environment "${environment}"`;
  throw new PungiError(
    'DENIED',
    added === undefined
      ? `Runs with the profile "${name}" are in ${own}, not in "${venvName}". Name no environment, or another profile.`
      : `Runs with the profile "${name}" are in ${own}. Name no packages, or another profile.`,
    { profile: name, ...(added === undefined ? { venvName } : { packages: added }) },
  );
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
  { preload: own, allowedHosts, allowedImports, blockedImports }: Profile,
  data: readonly WorkspaceFolder[],
  { preload: wanted = [] }: Pick<RunRequest, 'preload'> = {},
): PoolSpec | undefined {
  const isFree = allowedImports === null && blockedImports.length === 0;
  const preload = isFree ? [...own, ...wanted] : own;
  if (preload.length + data.length + allowedHosts.length === 0) return undefined;
  return { preload, data, allowedHosts };
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
