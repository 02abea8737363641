import { withoutMark } from '../base/byte-order-mark.js';
import { PungiError } from '../base/errors.js';
import type { Config } from '../config/schema.js';
import type { Profile } from '../contract/profile.js';
import type { RunRequest } from '../contract/run.js';
import type { AdmittedRun } from '../engine/engine.js';
import { PLAIN } from '../engine/home.js';
import type { Job } from '../runtime/supervisor.js';
import { checkBesideData, checkBesideScript, checkFits, scriptName } from './input-files.js';
import { LimitRules } from './limits.js';
import { parseRequest } from './parse-request.js';
import { furnishingOf, rulesOf, variablesOf } from './profile-job.js';
import type { Profiles } from './profiles/profiles.js';
import { readScript } from './script-file.js';
import { listWorkspace, type WorkspaceData } from './workspace-data.js';

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
    const own = furnishingOf(profile, request);
    const furnishing = isRaised ? { ...(own ?? PLAIN), isRaised } : own;
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
      ...(furnishing && { furnishing }),
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
      ...(isRaised && { furnishing: { ...PLAIN, isRaised } }),
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
