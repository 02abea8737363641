import { PungiError } from './base/errors.js';
import { type Logger, silentLogger } from './base/logger.js';
import { VERSION } from './base/version.js';
import type { Config } from './config/schema.js';
import type { Analysis, AnalysisOptions, AnalysisRequest } from './contract/analysis.js';
import { PackageInfo, type StepOptions } from './contract/environment.js';
import type { Health } from './contract/health.js';
import type { Outcome } from './contract/outcome.js';
import type { RunOptions, RunRequest } from './contract/run.js';
import { BytecodeCache, defaultCacheFolder, sha256 } from './engine/bytecode-cache.js';
import { type AdmittedRun, Engine, type EngineState } from './engine/engine.js';
import type { Home } from './engine/home.js';
import { analyzeCode } from './environments/analysis/analysis.js';
import { Environments } from './environments/environments.js';
import { Placement } from './environments/placement.js';
import { Preinstalled } from './environments/preinstalled.js';
import { admit } from './gate/gate.js';
import { Metrics } from './metrics/metrics.js';
import { engineOptions, engineSide, environmentsOptions } from './pungi/parts.js';
import { refusal } from './pungi/refusal.js';

const LIST_PACKAGES = `
import importlib.metadata as m
sorted(({"name": d.metadata["Name"], "version": d.version} for d in m.distributions() if d.metadata["Name"]), key=lambda one: one["name"].lower())
`;

/** A script compiled once. Its runs skip the compiler. */
export interface CompiledScript {
  readonly sha256: string;
  readonly filename: string;
  readonly code: string;
}

/** What every door calls: the gate decides, the engine runs, the metrics record. */
export class Pungi {
  readonly config: Config;
  readonly environments: Environments;
  #engine: Engine;
  #preinstalled: Preinstalled;
  #placement: Placement;
  #metrics = new Metrics();
  #cache: BytecodeCache;
  #logger: Logger;

  private constructor(config: Config, logger: Logger) {
    this.config = config;
    this.#logger = logger;
    this.#cache = new BytecodeCache(config.cacheDir ?? defaultCacheFolder());
    this.#engine = new Engine(engineOptions(config), logger);
    this.environments = new Environments(environmentsOptions(config), engineSide(this.#engine), logger);
    this.#preinstalled = new Preinstalled(this.environments, config.preinstalledPackages, logger);
    this.#placement = new Placement(this.#engine, this.environments, this.#preinstalled, config.autoInstall);
    void this.#warmDefault();
  }

  /** Returns at once; interpreter, isolation and the first workers come up behind it. */
  static start(config: Config, logger: Logger = silentLogger): Pungi {
    return new Pungi(config, logger);
  }

  /** Resolves when a worker is parked; rejects with what is missing. */
  async ready(): Promise<void> {
    await this.#engine.started;
  }

  /** What was found at start: interpreter, tier, and why a stronger tier was not entered. */
  async state(): Promise<EngineState> {
    return this.#engine.started;
  }

  /** Never rejects: bad input, refusals and failures are verdicts. */
  async run(request: RunRequest, options: RunOptions = {}): Promise<Outcome> {
    return this.#conclude(request.code, async () => {
      const admitted = await admit(request, this.config);
      return this.#placement.run(admitted, options, (home) => this.#execute({ ...admitted, home }, options));
    });
  }

  /** Compiles, in the sandbox, without running. Throws PYTHON_ERROR for code that does not compile. */
  async precompile(code: string, filename = 'main.py'): Promise<CompiledScript> {
    const script = { sha256: sha256(code), filename, code };
    await this.#placement.in(undefined, {}, (home) => this.#bytecodeOf(script, home));
    return script;
  }

  async runCompiled(
    script: CompiledScript,
    request: Omit<RunRequest, 'code' | 'file' | 'filename'> = {},
    options: RunOptions = {},
  ): Promise<Outcome> {
    return this.#conclude(script.code, async () => {
      const { code, filename } = script;
      const admitted = await admit({ ...request, code, filename }, this.config);
      return this.#placement.run(admitted, options, async (home) => {
        const bytecode = await this.#bytecodeOf(script, home);
        return this.#execute({ ...admitted, home, job: { ...admitted.job, bytecode } }, options);
      });
    });
  }

  /** What is installed in an environment, as runs see it. */
  async packages(venvName?: string, options: StepOptions = {}): Promise<PackageInfo[]> {
    const known = await this.environments.metadata(venvName);
    // Only a run sees what an environment inherits.
    if (known && !known.inherit) return known.packages;
    const outcome = await this.run(
      { code: LIST_PACKAGES, ...(venvName !== undefined && { venvName }) },
      options,
    );
    const found = PackageInfo.array().safeParse(outcome.value?.json);
    if (found.success) return found.data;
    const { verdict } = outcome;
    throw new PungiError(
      'INTERNAL_ERROR',
      verdict.kind === 'ok' ? 'The packages could not be listed.' : verdict.message,
    );
  }

  /** Looks at code with ruff, without running it. */
  async analyze(request: AnalysisRequest, options: AnalysisOptions = {}): Promise<Analysis> {
    const { environments } = this;
    const { maxOutputBytes } = this.config;
    const run = this.run.bind(this);
    return analyzeCode(request, { environments, run, maxOutputBytes }, options);
  }

  async health(venvName?: string): Promise<Health> {
    const { queue, pools, state } = this.#engine;
    const problem = await this.#problem();
    const environment = problem === null && state ? await this.environments.show(venvName) : null;
    const pool = pools.find(environment?.venvName ?? this.environments.defaultName);
    return {
      status: problem !== null ? 'unhealthy' : state ? 'healthy' : 'starting',
      version: VERSION,
      pythonVersion: state
        ? `Python ${environment?.pythonVersion || state.interpreter.version}`
        : 'not known yet',
      config: { ...this.config },
      metrics: this.#metrics.snapshot(queue.active, queue.waiting),
      isolation: { tier: state?.tier ?? null, features: state?.features ?? [], warning: warningFor(state) },
      interpreter: state ? { ...state.interpreter } : null,
      environment:
        this.#preinstalled.isPending && environment?.isDefault
          ? { ...environment, state: 'preparing' }
          : environment,
      warmEnvironments: pools.names,
      pool: {
        target: pool?.size ?? this.config.poolSize,
        parked: pool?.parked ?? 0,
        parking: pool?.parking ?? 0,
        busy: pool?.busy ?? 0,
        forkServers: pool?.forkServers ?? 0,
        restarts: pool?.restarts ?? 0,
      },
      queue: { active: queue.active, waiting: queue.waiting, capacity: queue.capacity },
      alerts: [],
      audit: { enabled: false, folder: null, problem: null },
      notes: this.#preinstalled.problem === null ? [] : [this.#preinstalled.problem],
      problem,
    };
  }

  /** Ends every process. */
  async close(): Promise<void> {
    await this.#preinstalled.close();
    await this.#engine.close();
    await this.environments.close();
  }

  /** Where the default environment is more than the interpreter, its workers are the ones to have ready. */
  async #warmDefault(): Promise<void> {
    if (!this.environments.hasDefault()) return;
    try {
      await this.#placement.in(undefined, {}, async (home) => home && this.#engine.warm(home));
    } catch {
      // whoever runs in it is told why it cannot be
    }
  }

  async #problem(): Promise<string | null> {
    if (this.#engine.state) return null;
    const soFar = Promise.race([this.#engine.started, Promise.resolve()]);
    return soFar.then(
      () => null,
      (error: unknown) => PungiError.from(error).message,
    );
  }

  async #bytecodeOf(script: CompiledScript, home: Home | undefined): Promise<string> {
    await this.#engine.started;
    const keyFor = (interpreter: string) => ({
      sourceSha256: sha256(script.code),
      filename: script.filename,
      interpreter,
    });
    // What one environment compiles is not believed by another: its packages may have had a hand in it.
    const own = home === undefined ? '' : `-${home.environment}-${home.generation}`;
    const tag = this.#engine.bytecodeTag(home);
    const known = tag === undefined ? undefined : this.#cache.get(keyFor(tag + own));
    if (known !== undefined) return known;
    const { job } = await admit({ code: script.code, filename: script.filename }, this.config);
    const compiled = await this.#engine.compile(job, home);
    if ('exception' in compiled) {
      const { type, message } = compiled.exception;
      throw new PungiError('PYTHON_ERROR', `${type}: ${message}`, { exception: compiled.exception });
    }
    this.#cache.set(keyFor(compiled.tag + own), compiled.bytecode);
    return compiled.bytecode;
  }

  #execute(admitted: AdmittedRun, options: RunOptions): Promise<Outcome> {
    const { code, limits } = admitted.job;
    this.#logger.info('Executing Python script', { scriptSize: code.length, timeout: limits.timeoutMs });
    return this.#engine.run(admitted, options);
  }

  async #conclude(code: unknown, run: () => Promise<Outcome>): Promise<Outcome> {
    const outcome = await run().catch((error: unknown) => refusal(PungiError.from(error), code));
    this.#metrics.record(outcome);
    const { verdict, runId, usage, isolation } = outcome;
    this.#logger.info('Executed Python script', {
      runId,
      verdict: verdict.kind,
      usage,
      tier: isolation.tier,
    });
    return outcome;
  }
}

function warningFor(state: EngineState | undefined): string | null {
  if (!state || state.tier === 'namespace') return null;
  if (state.tier === 'process')
    return 'Code is not isolated: it runs with the rights of the sandbox user or your own.';
  const [refused] = state.refused;
  return `The namespace tier could not be entered${refused ? ` (${refused.reason})` : ''}; landlock and seccomp hold instead.`;
}
