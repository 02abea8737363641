import { setImmediate } from 'node:timers/promises';
import { type ArtifactPart, type ArtifactPlace, Artifacts, artifactFolder } from './artifacts.js';
import { auditSettings } from './audit/folder.js';
import { AuditRecorder, type ConfigurationChange } from './audit/recorder.js';
import { RunStore } from './background/run-store.js';
import { type BackgroundRuns, type FoundRun, LocalBackgroundRuns } from './background.js';
import type { Door } from './base/advice.js';
import { badArgument, checkObject, checkOptions, checkText } from './base/arguments.js';
import { PungiError } from './base/errors.js';
import { type Logger, silentLogger } from './base/logger.js';
import { isNodeSupported, tooOld } from './base/node-version.js';
import { sha256 } from './base/sha256.js';
import { VERSION } from './base/version.js';
import { type CheckpointState, Checkpoints } from './checkpoints.js';
import { checkConfig, loadConfig } from './config/load.js';
import type { Config, GivenConfig } from './config/schema.js';
import type { Analysis, AnalysisOptions, AnalysisRequest } from './contract/analysis.js';
import type { AuditEntry, Replay } from './contract/audit.js';
import type { BackgroundRunInfo } from './contract/background.js';
import { type Caller, callerOf, SELF } from './contract/caller.js';
import { PackageInfo, type StepOptions } from './contract/environment.js';
import type { FilesOverview, FolderList } from './contract/files.js';
import type { Health } from './contract/health.js';
import type { Outcome } from './contract/outcome.js';
import type { Completion, PromptInput, PromptRequest } from './contract/prompt.js';
import type { RunOptions, RunRequest } from './contract/run.js';
import type { SessionInfo, SessionState } from './contract/session.js';
import type { DiscoverRequest, Discovery, Inspection } from './contract/wrap.js';
import type { BackendState } from './engine/backend.js';
import { defaultCacheFolder } from './engine/bytecode-cache.js';
import { Engine, type Examination } from './engine/engine.js';
import { type EnvironmentRef, PLAIN } from './engine/environment-ref.js';
import { FairQueue } from './engine/fair-queue.js';
import { analyzeCode } from './environments/analysis.js';
import { type Environments, LocalEnvironments } from './environments/environments.js';
import { Preinstalled } from './environments/preinstalled.js';
import { EnvironmentResolver } from './environments/resolver.js';
import { Gate } from './gate/gate.js';
import { ceilingsOf } from './gate/limits.js';
import { loadProfiles } from './gate/profiles/load-profiles.js';
import type { Profiles } from './gate/profiles/profiles.js';
import { ResultCache } from './gate/result-cache.js';
import { Alerts } from './metrics/alerts.js';
import { Metrics } from './metrics/metrics.js';
import type { Network } from './network/network.js';
import { discover, INSPECTING, readInspection } from './pungi/discovery.js';
import { examineHealth } from './pungi/health.js';
import { listFolder } from './pungi/list-files.js';
import { NetworkRefusals } from './pungi/network-refusals.js';
import { OutputStore } from './pungi/output-store.js';
import {
  adviceOf,
  backgroundLimits,
  commandArtifactMb,
  engineOptions,
  engineSide,
  environmentsOptions,
  keptOutcomes,
  recordEnvironment,
} from './pungi/parts.js';
import { type CompiledScript, Precompiler, readCompiled } from './pungi/precompiler.js';
import { Prompt } from './pungi/prompt.js';
import { refusal } from './pungi/refusal.js';
import type { RemoteBackend } from './pungi/remote-backend.js';
import { replayEntry } from './pungi/replay.js';
import { Runs } from './runs.js';
import { Sessions } from './sessions.js';
import { type UploadInfo, type UploadPart, Uploads } from './uploads.js';

const LIST_PACKAGES = `
import importlib.metadata, re
found = {}
for one in importlib.metadata.distributions():
    if name := one.metadata["Name"]:
        found.setdefault(re.sub("[-_.]+", "-", name).lower(), {"name": name, "version": one.version})
[found[key] for key in sorted(found)]
`;

/** Loading the database takes a moment. A run before that opens the trail as well. */
const ANNOUNCE_AFTER_MS = 200;

/** Runs whose files an overview names. */
const MOST_RUNS = 20;

/** The facade for server, command line and library: the gate decides, the engine runs, the audit trail records. */
export class Pungi {
  readonly config: Config;
  readonly logger: Logger;
  readonly profiles: Profiles;
  readonly environments: Environments;
  /** Outputs that a door could not show in full, for their callers. */
  readonly outputs: OutputStore;
  #door: Door;
  #gate: Gate;
  #engine: Engine;
  #audit: AuditRecorder;
  #alerts: Alerts;
  #metrics = new Metrics();
  #preinstalled: Preinstalled;
  #precompiler: Precompiler;
  #sessions: Sessions;
  #checkpoints: Checkpoints;
  #artifacts: Artifacts | null;
  #uploads: Uploads | null;
  /** A whole file is in memory several times until a door has written its reply. */
  #readingWhole = new FairQueue(2, Number.POSITIVE_INFINITY, 1);
  #runs: Runs;
  #background: BackgroundRuns | null;
  #prompt: Prompt;
  #closed: Promise<void> | undefined;
  #announced: Promise<void> | undefined;
  #endRecording: (() => void) | undefined;

  private constructor(config: Config, logger: Logger, door: Door, backend: RemoteBackend | undefined) {
    this.config = config;
    this.#door = door;
    this.logger = logger;
    const shared = backend?.profiles;
    this.profiles = loadProfiles(config, shared?.chains);
    shared?.onChange(() => {
      this.profiles.share(shared.chains);
      void this.#recordProfiles();
    });
    this.outputs = new OutputStore(config);
    this.#gate = new Gate(config, this.profiles);
    this.#audit = new AuditRecorder(auditSettings(config), logger);
    const refusals = new NetworkRefusals();
    let network: Promise<Network> | undefined;
    this.#engine = new Engine(
      {
        ...engineOptions(config, door),
        backend,
        isFilled: () => config.preinstalledPackages.length > 0 || this.#hasDefault(),
        network: async (hosts) => {
          // Most servers need none, and it loads Node's HTTP.
          network ??= import('./network/network.js').then((loaded) => new loaded.Network());
          return (await network).open(hosts, (decision) => refusals.note(decision));
        },
      },
      logger,
    );
    const kept = {
      ...environmentsOptions(config, door),
      packagesSeen: (name: string) => this.packages(name),
      onEvent: recordEnvironment(this.#audit),
    };
    this.environments =
      backend?.environmentsWith(kept) ?? new LocalEnvironments(kept, engineSide(this.#engine), logger);
    this.#preinstalled = new Preinstalled(this.environments, config.preinstalledPackages, logger);
    this.#precompiler = new Precompiler(this.#engine, this.#gate, config.cacheDir ?? defaultCacheFolder());
    this.#alerts = new Alerts(config, { logger, read: () => this.#readings() });
    this.#artifacts =
      door === 'command' || config.artifactMb === 0
        ? null
        : new Artifacts({
            folder: artifactFolder(config),
            totalBytes: config.artifactTotalMb * 1024 * 1024,
            keptMs: config.artifactHours * 3_600_000,
            fetch: (runId, caller) => this.#background?.filesOf?.(runId, caller),
          });
    const largestUpload = ceilingsOf(config).diskMb * 1024 * 1024;
    this.#uploads = this.#artifacts && new Uploads(this.#artifacts, largestUpload);
    this.#sessions = new Sessions({
      total: config.maxSessions,
      perCaller: config.maxSessionsPerCaller,
      idleMs: config.sessionIdleMs,
      lifetimeMs: config.sessionLifetimeMs,
    });
    this.#checkpoints = new Checkpoints({
      sessions: this.#sessions,
      engine: this.#engine,
      audit: this.#audit,
      logger,
    });
    const resolver = new EnvironmentResolver(
      this.#engine,
      this.environments,
      this.#preinstalled,
      config.autoInstall,
    );
    this.#prompt = new Prompt({
      gate: this.#gate,
      resolver,
      environments: this.environments,
      engine: this.#engine,
      sessions: this.#sessions,
    });
    this.#runs = new Runs({
      sessions: this.#sessions,
      artifacts: this.#artifacts,
      uploads: this.#uploads,
      artifactBytes: config.artifactMb * 1024 * 1024,
      gate: this.#gate,
      cache: new ResultCache(config.resultCacheMb),
      resolver,
      environments: this.environments,
      engine: this.#engine,
      refusals,
      metrics: this.#metrics,
      alerts: this.#alerts,
      audit: this.#audit,
      logger,
      advice: adviceOf(config, door),
      scriptRoots: config.scriptRoots,
    });
    this.#background = door === 'command' ? null : this.#backgroundAt(backend);
    const recorded = new Promise<void>((resolve) => {
      this.#endRecording = resolve;
    });
    // A command is not the front end whose keys it uses: its trail may be another one.
    if (door !== 'command') backend?.auditIn(this.#audit.folder, recorded);
    void this.#warmDefault();
    void this.#collectGenerations();
    // A server answers its client first.
    if (door === 'server') setTimeout(() => void this.#announce(), ANNOUNCE_AFTER_MS).unref();
    else void this.#announce();
  }

  /**
   * Returns at once; interpreter, isolation, the first workers and the audit trail start in the background. Without a
   * configuration, environment variables and pungi.yaml apply; omitted settings of a given one have their defaults.
   * `backend`: where code runs and environments are, if not on this machine.
   */
  static start(
    config?: GivenConfig,
    logger: Logger = silentLogger,
    door: Door = 'library',
    backend?: RemoteBackend,
  ): Pungi {
    if (!isNodeSupported()) throw new PungiError('CONFIGURATION_ERROR', tooOld());
    return new Pungi(config === undefined ? loadConfig() : checkConfig(config), logger, door, backend);
  }

  /** `await using pungi = Pungi.start()` */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Resolves when a worker is ready; rejects with what is missing. */
  async ready(): Promise<void> {
    await this.#engine.started;
  }

  /** Returns what was found at start: interpreter, tier, and why a stronger tier is unavailable. */
  async state(): Promise<BackendState> {
    return this.#engine.started;
  }

  /** Never rejects: invalid input, refusals and failures are verdicts. */
  run(request: RunRequest, options: RunOptions = {}): Promise<Outcome> {
    void this.#announce();
    return this.#runs.run(request, options);
  }

  /** How many runs could begin at once. */
  get freeSlots(): number {
    const isOpen = this.#closed === undefined && this.#engine.state !== undefined;
    return isOpen ? this.#engine.queue.freeSlots : 0;
  }

  /** Does the run of a command, as the command would: what it leaves is for the command, and nothing of it is kept here. */
  async runForCommand(request: RunRequest, options: RunOptions = {}): Promise<Outcome> {
    const artifactBytes = commandArtifactMb(this.config) * 1024 * 1024;
    const advice = adviceOf(this.config, 'command');
    return this.#runs.run(request, options, { command: { advice, artifactBytes } });
  }

  /**
   * Starts a run that nobody waits for, and returns its handle. It may take up to MAX_BACKGROUND_TIMEOUT_MS, and its outcome
   * is kept on disk. Throws SERVER_BUSY if there are too many.
   */
  async runInBackground(
    request: RunRequest,
    { caller, replyDetail }: { caller?: Partial<Caller>; replyDetail?: Config['replyDetail'] } = {},
  ): Promise<{ run: string }> {
    checkObject('request', request);
    checkOptions({ caller });
    return this.#inBackground().start(request, callerOf(caller), replyDetail);
  }

  /**
   * Looks at a background run of the caller. With `waitMs` it waits until the run has ended or has new lines, at most 50 s.
   * Throws RUN_NOT_FOUND.
   */
  async getRun(
    run: string,
    {
      waitMs = 0,
      caller,
      signal,
    }: { waitMs?: number; caller?: Partial<Caller>; signal?: AbortSignal | undefined } = {},
  ): Promise<FoundRun> {
    checkText('run', run);
    checkOptions({ caller, signal });
    if (typeof waitMs !== 'number' || !(waitMs >= 0))
      throw badArgument('options.waitMs', 'a number of milliseconds', waitMs);
    return this.#inBackground().get(run, callerOf(caller), waitMs, signal);
  }

  /** Cancels a background run of the caller, unless it has ended, and returns how it ended. Throws RUN_NOT_FOUND. */
  async cancelRun(run: string, caller?: Partial<Caller>): Promise<FoundRun> {
    checkText('run', run);
    return this.#inBackground().cancel(run, callerOf(caller));
  }

  /** Lists the caller's background runs, the newest first. */
  async listRuns(caller?: Partial<Caller>): Promise<BackgroundRunInfo[]> {
    return this.#inBackground().list(callerOf(caller));
  }

  /**
   * Reads a file that a run of the caller left behind, or a part of it; of a session, the newest one. Throws
   * INVALID_INPUT if it is not kept.
   */
  async readArtifact(
    { path, offset = 0, most, ...place }: ArtifactPlace & { path: string; offset?: number; most?: number },
    caller?: Partial<Caller>,
  ): Promise<ArtifactPart> {
    for (const [name, text] of Object.entries({ ...place, path })) checkText(name, text);
    if (this.#artifacts === null)
      throw new PungiError('INVALID_INPUT', 'No files of runs are kept here (ARTIFACT_MB=0).');
    const asking = callerOf(caller);
    if (most !== undefined) return this.#artifacts.read(place, path, asking, { offset, most });
    const leave = await this.#readingWhole.enter(asking.connection);
    return this.#artifacts.read(place, path, asking, { offset }).finally(leave);
  }

  /** Lists the folders with data, and the caller's uploads and newest files of runs. */
  async files(caller?: Partial<Caller>): Promise<FilesOverview> {
    const kept = (await this.#artifacts?.of(callerOf(caller))) ?? [];
    const runs = kept.filter(({ isUpload }) => !isUpload).reverse();
    return {
      folders: this.#gate.dataFolders().map(({ name }) => `data/${name}`),
      uploads: (await this.#uploads?.list(callerOf(caller))) ?? [],
      runs: runs.slice(0, MOST_RUNS).map(({ runId, artifacts }) => ({
        run: runId,
        files: artifacts.map(({ path, size }) => ({ path, size })),
      })),
    };
  }

  /** Lists a folder below data/, as a run sees it. Throws INVALID_INPUT if there is none. */
  async listFolder(
    { path, offset = 0 }: { path: string; offset?: number },
    options: RunOptions = {},
  ): Promise<FolderList> {
    checkText('path', path);
    const data = this.#gate.dataFolders();
    const run = (request: RunRequest) => this.#runs.runOwn(request, options, { ...PLAIN, data });
    return listFolder({ path, offset }, data, run);
  }

  /** Adds a part to an upload, or begins one. Its handle is for `files` of the caller's runs. */
  async upload(part: UploadPart, caller?: Partial<Caller>): Promise<UploadInfo> {
    checkObject('part', part);
    if (!Buffer.isBuffer(part.content)) throw badArgument('part.content', 'a Buffer', part.content);
    if (this.#uploads === null)
      throw new PungiError('INVALID_INPUT', 'No uploads are kept here (ARTIFACT_MB=0).');
    return this.#uploads.add(part, callerOf(caller));
  }

  /** Lists the caller's sessions. */
  sessions(caller?: Partial<Caller>): SessionInfo[] {
    return this.#sessions.list(callerOf(caller));
  }

  /** Ends a session; a run in it is cancelled. Throws SESSION_NOT_FOUND or SESSION_ENDED. */
  endSession(id: string, caller?: Partial<Caller>): void {
    checkText('id', id);
    this.#sessions.end(id, callerOf(caller));
  }

  /**
   * Copies a live session, with its variables and files, in milliseconds. Throws SESSION_NOT_COPIED with what is in the
   * way, such as threads or open sockets.
   */
  async checkpoint(session: string, caller?: Partial<Caller>): Promise<CheckpointState> {
    checkText('session', session);
    return this.#checkpoints.make(session, callerOf(caller));
  }

  /** Brings variables and files of a session back, also if its process has ended. The checkpoint stays. */
  async restore(session: string, checkpoint: string, caller?: Partial<Caller>): Promise<CheckpointState> {
    checkText('session', session);
    checkText('checkpoint', checkpoint);
    return this.#checkpoints.restore(session, checkpoint, callerOf(caller));
  }

  /** Returns a new session with the same variables and files. Both share their limits and take turns. */
  async forkSession(session: string, caller?: Partial<Caller>): Promise<SessionState> {
    checkText('session', session);
    return this.#checkpoints.fork(session, callerOf(caller));
  }

  /**
   * Says how a line may go on, from the variables of a session; without one, or for "new", as a new one would. Neither a
   * run nor recorded. Throws what a run would be refused with.
   */
  async complete(request: PromptRequest, options: StepOptions = {}): Promise<Completion> {
    checkOptions(options);
    return this.#prompt.complete(checkPrompt(request), options);
  }

  /**
   * Says whether code at a prompt is whole, by Python's own rules, and where its statements end. `isTyped`: it came line by
   * line, so that an empty line ends a block.
   */
  async readPrompt(
    request: PromptRequest & { isTyped?: boolean },
    options: StepOptions = {},
  ): Promise<PromptInput> {
    checkOptions(options);
    return this.#prompt.read(checkPrompt(request), options);
  }

  /** Runs code for Pungi's own use: sandbox and limits apply, no profile does, and it is not recorded. */
  async probe(request: RunRequest, options: RunOptions = {}): Promise<Outcome> {
    return this.#runs.runOwn(request, options);
  }

  /** Checks code against the rules of a profile and summarizes what it does, without running it. */
  async examine(request: Pick<RunRequest, 'code' | 'file' | 'filename' | 'profile'>): Promise<Examination> {
    const { job } = await this.#gate.admit(request);
    return this.#engine.examine({ ...job, summarize: true });
  }

  /**
   * Finds the parts of a script that can be tools, with Python's parser. Throws PYTHON_ERROR if it does not compile.
   */
  async discover(request: DiscoverRequest, options: StepOptions = {}): Promise<Discovery> {
    checkObject('request', request);
    checkOptions(options);
    const { environments } = this;
    const [gate, engine] = [this.#gate, this.#engine];
    return discover(request, { gate, environments, engine }, options);
  }

  /**
   * What of a script can be tools, found by loading it: a run like any other, under its profile and limits, recorded. The
   * problem says why it could not be loaded or may not run.
   */
  async inspect(
    request: RunRequest,
    { toolName, ...options }: RunOptions & { toolName?: string | undefined } = {},
  ): Promise<Inspection> {
    const limits = { ...INSPECTING, ...request.limits };
    return readInspection(
      await this.#runs.run({ ...request, limits, fresh: true }, options, { inspect: { toolName } }),
      request.filename ?? 'main.py',
    );
  }

  /** Records a change of what the server offers. Rejects with AUDIT_UNAVAILABLE if nothing can be recorded. */
  async recordChange(change: ConfigurationChange, caller?: Partial<Caller>): Promise<void> {
    const { client, token } = callerOf(caller);
    await this.#audit.change(change, { client: client || SELF.client, token });
  }

  /** Resolves when changes can be recorded; rejects with AUDIT_UNAVAILABLE otherwise. */
  async auditReady(): Promise<void> {
    await this.#audit.ready();
  }

  /** Runs an old entry of the audit trail again, in an environment with the same lock, and compares the outcomes. */
  async replay(entry: AuditEntry, options: RunOptions = {}): Promise<Replay> {
    checkObject('entry', entry);
    if (typeof entry.seq !== 'number') throw badArgument('entry', 'an entry of the audit trail', entry);
    checkOptions(options);
    const { environments } = this;
    return replayEntry(entry, { environments, audit: this.#audit, runs: this.#runs }, options);
  }

  /** Compiles code in the sandbox without running it. Throws PYTHON_ERROR if it does not compile. */
  async precompile(code: string, filename = 'main.py'): Promise<CompiledScript> {
    checkText('code', code);
    const script = { sha256: sha256(code), filename, code };
    await this.environments.in(undefined, {}, (ref) => this.#precompiler.bytecodeOf(script, ref));
    return script;
  }

  async runCompiled(
    script: CompiledScript,
    request: Omit<RunRequest, 'code' | 'file' | 'filename'> = {},
    options: RunOptions = {},
  ): Promise<Outcome> {
    try {
      checkObject('request', request);
      const { code, filename } = readCompiled(script);
      const bytecode = (ref: EnvironmentRef | undefined) => this.#precompiler.bytecodeOf(script, ref);
      return await this.#runs.run({ ...request, code, filename }, options, { bytecode });
    } catch (thrown) {
      return refusal(PungiError.from(thrown), undefined);
    }
  }

  /** Lists the packages of an environment, as runs see them. */
  async packages(venvName?: string, options: StepOptions = {}): Promise<PackageInfo[]> {
    checkOptions(options);
    const own = await this.environments.ownPackages(venvName);
    if (own !== null) return own;
    const outcome = await this.probe(
      { code: LIST_PACKAGES, ...(venvName !== undefined && { venvName }) },
      options,
    );
    const found = PackageInfo.array().safeParse(outcome.value?.json);
    if (found.success) return found.data;
    const { verdict } = outcome;
    if (verdict.kind === 'ok' || verdict.kind === 'python-error' || verdict.kind === 'exited')
      throw new PungiError('INTERNAL_ERROR', 'The packages could not be listed.');
    throw new PungiError(verdict.code, verdict.message);
  }

  /** Analyses code with ruff, without running it. */
  async analyze(request: AnalysisRequest, options: AnalysisOptions = {}): Promise<Analysis> {
    checkOptions(options);
    const { environments } = this;
    const { maxOutputBytes } = this.config;
    const run = this.probe.bind(this);
    return analyzeCode(request, { environments, run, maxOutputBytes }, options);
  }

  async health(venvName?: string): Promise<Health> {
    const { config, environments } = this;
    const [engine, preinstalled, metrics] = [this.#engine, this.#preinstalled, this.#metrics];
    const [alerts, audit] = [this.#alerts, this.#audit];
    return examineHealth({ config, environments, engine, preinstalled, metrics, alerts, audit }, venvName);
  }

  /** Ends every process and signs the audit trail. May be called several times. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#background?.close();
    const recorded = this.#runs.close();
    await this.#preinstalled.close();
    // It cancels the runs at once, and its processes end while the audit trail is closed.
    const ended = this.#engine.close();
    ended.catch(() => {}); // awaited below
    await this.environments.close();
    await recorded;
    await this.#alerts.close();
    await this.#announce();
    if (this.#door === 'server') await this.#audit.server('stopped', null).catch(() => {});
    await setImmediate(); // SQLite blocks this process: the others have been asked to end by then
    await Promise.all([ended, this.#audit.close().finally(() => this.#endRecording?.())]);
  }

  #backgroundAt(backend: RemoteBackend | undefined): BackgroundRuns {
    const { config, logger } = this;
    const parts = { runs: this.#runs, limits: backgroundLimits(config), logger };
    const kept = keptOutcomes(config);
    if (backend === undefined) return new LocalBackgroundRuns({ ...parts, store: new RunStore(kept) });
    const totalFileBytes = config.artifactTotalMb * 1024 * 1024;
    return backend.backgroundWith({
      ...parts,
      ...kept,
      totalFileBytes,
      longestMs: config.maxBackgroundTimeoutMs,
      profileOf: ({ profile = config.defaultProfile }) =>
        this.profiles.usable.find(({ name }) => name === profile)?.name,
    });
  }

  #inBackground(): BackgroundRuns {
    if (this.#background !== null) return this.#background;
    throw new PungiError('INVALID_INPUT', 'A command has no background runs.');
  }

  #hasDefault(): boolean {
    try {
      return this.environments.hasDefault();
    } catch {
      return false; // a run in it reports why it cannot be read
    }
  }

  /** Prepares workers of most runs if they need more than the plain interpreter: a default environment, or data. */
  async #warmDefault(): Promise<void> {
    const data = this.#gate.dataFolders();
    if (!this.#hasDefault() && data.length === 0) return;
    try {
      await this.environments.in(undefined, {}, (ref) => this.#engine.warm(ref, { ...PLAIN, data }));
    } catch {
      // a run in it reports the problem
    }
  }

  /** Removes generations that a killed server left. A command skips this. */
  async #collectGenerations(): Promise<void> {
    if (this.#door === 'command') return;
    await this.environments.collect().catch((error) => {
      this.logger.debug('Former generations of environments could not be removed', { reason: `${error}` });
    });
  }

  /** Records the settings in force. A command skips this: the entry of its run contains limits and profile. */
  #announce(): Promise<void> {
    this.#announced ??= this.#recordSettings();
    return this.#announced;
  }

  async #recordSettings(): Promise<void> {
    if (this.#door === 'command') return;
    try {
      if (this.#door === 'server') await this.#audit.server('started', { version: VERSION });
      await this.#recordConfiguration();
    } catch {
      // runs report why nothing can be recorded
    }
  }

  /** Records that the cluster shares other profiles now. */
  async #recordProfiles(): Promise<void> {
    await this.#announce();
    if (this.#door === 'command') return;
    await this.#recordConfiguration().catch(() => {}); // runs report why nothing can be recorded
  }

  #recordConfiguration(): Promise<void> {
    return this.#audit.configuration({ ...this.config, profiles: this.profiles.all });
  }

  #readings() {
    return {
      queued: this.#engine.queue.waiting,
      serverMemoryMb: process.memoryUsage.rss() / 1024 / 1024,
    };
  }
}

function checkPrompt<T extends PromptRequest>(request: T): T {
  checkObject('request', request);
  checkText('code', request.code);
  return request;
}

export type { CompiledScript, Door };
