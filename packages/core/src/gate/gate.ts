import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { kindOf } from '../base/arguments.js';
import { PungiError } from '../base/errors.js';
import { withoutMark } from '../base/files.js';
import { jsonFaults } from '../base/issue-text.js';
import type { Config } from '../config/schema.js';
import type { Profile, ScopeRules, WorkspaceFolder } from '../contract/profile.js';
import { type LocalInputs, MAX_CODE_BYTES, RunRequest, TOGETHER } from '../contract/run.js';
import type { AdmittedRun } from '../engine/engine.js';
import { PLAIN, type PoolSpec } from '../engine/environment-ref.js';
import { LiveInput } from '../runtime/live-input.js';
import type { Job } from '../runtime/supervisor.js';
import { dataFoldersOf, dataRootsOf } from './data-roots.js';
import { LimitRules } from './limits.js';
import { isStrategic, type Profiles } from './profiles/profiles.js';
import { readScript } from './script-file.js';
import { type OpenUpload, sourcesOf } from './sources.js';
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
  async admit(
    raw: unknown,
    local: LocalInputs = {},
    { isBackground = false, openUpload = noUploads }: AdmitOptions = {},
  ): Promise<Admitted> {
    const request = parseRequest(raw);
    const profile = this.#profileOf(request);
    const venvName = environmentOf(request, profile);
    const folders = this.dataFolders(profile);
    checkDataConflict([...(request.files ?? []), ...(local.files ?? [])], folders);
    const { job, notes, isRaised, scripts } = await this.#job(request, profile, local, {
      isBackground,
      openUpload,
    });
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
    const { job, notes, isRaised } = await this.#job(
      request,
      null,
      {},
      {
        isBackground: false,
        openUpload: noUploads,
      },
    );
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
    local: LocalInputs,
    { isBackground, openUpload }: Required<AdmitOptions>,
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

function liveInput({ session, stdin, inputData }: RunRequest, local: LocalInputs): LiveInput {
  if (session !== undefined) throw invalid(['a session reads no stream: give stdin']);
  if ([stdin, inputData, local.stdin].some((given) => given !== undefined))
    throw invalid(['standard input is given twice']);
  return new LiveInput(local.stdinStream!);
}

async function foldersOfScripts(roots: readonly string[]): Promise<PoolSpec['data']> {
  const real = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
  const existing = [...new Set(real.filter((path) => path !== undefined))];
  return existing.map((path, index) => ({ name: `.scripts-${index + 1}`, path }));
}

/** Rules are checked on whole scripts: what one run left behind could break them in the next. */
const scopedSession = (profile: string) =>
  new PungiError(
    'DENIED',
    `The profile "${profile}" restricts what code may do, and checks each script as a whole: it allows no sessions. Leave out session, or use another profile.`,
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
    if (name === 'code' && isShortText(value)) {
      request[name] = value;
      continue;
    }
    const field = RunRequest.shape[name as keyof RunRequest].safeParse(value);
    if (!field.success) return;
    request[name] = field.data;
  }
  return TOGETHER.every(([holds]) => holds(request as RunRequest)) ? (request as RunRequest) : undefined;
}

/** Whether it is a text that has no more bytes than code may have, without counting them: most code is short. */
const isShortText = (value: unknown): boolean =>
  typeof value === 'string' && value.length * MOST_BYTES_OF_CHARACTER <= MAX_CODE_BYTES;

/** The most bytes of UTF-8 for each unit of a text. */
const MOST_BYTES_OF_CHARACTER = 3;

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
  return index < 0
    ? []
    : [`files.${index}: must have a path, and one of text, base64 and upload, and nothing else`];
}
