import { randomUUID } from 'node:crypto';
import { PungiError } from './base/errors.js';
import { type Logger, silentLogger } from './base/logger.js';
import { VERSION } from './base/version.js';
import type { Config } from './config/schema.js';
import type { Health } from './contract/health.js';
import type { Outcome, PythonException, Verdict } from './contract/outcome.js';
import type { RunOptions, RunRequest } from './contract/run.js';
import { BytecodeCache, defaultCacheFolder, sha256 } from './engine/bytecode-cache.js';
import { type AdmittedRun, Engine, type EngineState } from './engine/engine.js';
import { pythonError } from './engine/verdict.js';
import { admit } from './gate/gate.js';
import { Metrics } from './metrics/metrics.js';

export const NO_INSTALLS = 'PREINSTALLED_PACKAGES is set, but this version does not install packages yet';

/** A script compiled once. Its runs skip the compiler. */
export interface CompiledScript {
  readonly sha256: string;
  readonly filename: string;
  readonly code: string;
}

/** What every door calls: the gate decides, the engine runs, the metrics record. */
export class Pungi {
  readonly config: Config;
  #engine: Engine;
  #metrics = new Metrics();
  #cache: BytecodeCache;
  #logger: Logger;

  private constructor(config: Config, logger: Logger) {
    this.config = config;
    this.#logger = logger;
    this.#cache = new BytecodeCache(config.cacheDir ?? defaultCacheFolder());
    this.#engine = new Engine(
      {
        python: config.python,
        tier: config.tier,
        allowUnsandboxed: config.allowUnsandboxed,
        poolSize: config.poolSize,
        preload: config.preloadModules,
        diskMb: config.maxDiskMb,
        maxActive: config.maxConcurrentExecutions,
        maxQueued: config.maxQueuedExecutions,
        idleTimeoutMs: config.idleTimeoutMs,
      },
      logger,
    );
    if (config.preinstalledPackages.length > 0) {
      logger.error(NO_INSTALLS, { packages: config.preinstalledPackages });
    }
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
    return this.#conclude(request.code, async () =>
      this.#execute(await admit(request, this.config), options),
    );
  }

  /** Compiles, in the sandbox, without running. Throws PYTHON_ERROR for code that does not compile. */
  async precompile(code: string, filename = 'main.py'): Promise<CompiledScript> {
    const script = { sha256: sha256(code), filename, code };
    await this.#bytecodeOf(script);
    return script;
  }

  async runCompiled(
    script: CompiledScript,
    request: Omit<RunRequest, 'code' | 'file' | 'filename'> = {},
    options: RunOptions = {},
  ): Promise<Outcome> {
    return this.#conclude(script.code, async () => {
      const { code, filename } = script;
      const { job, client } = await admit({ ...request, code, filename }, this.config);
      const bytecode = await this.#bytecodeOf(script);
      return this.#execute({ client, job: { ...job, bytecode } }, options);
    });
  }

  async health(): Promise<Health> {
    const { queue, pool, state } = this.#engine;
    const problem = await this.#problem();
    return {
      status: problem !== null ? 'unhealthy' : state ? 'healthy' : 'starting',
      version: VERSION,
      pythonVersion: state ? `Python ${state.interpreter.version}` : 'not known yet',
      config: { ...this.config },
      metrics: this.#metrics.snapshot(queue.active, queue.waiting),
      isolation: { tier: state?.tier ?? null, features: state?.features ?? [], warning: warningFor(state) },
      interpreter: state ? { ...state.interpreter } : null,
      pool: {
        target: pool?.size ?? this.config.poolSize,
        parked: pool?.parked ?? 0,
        parking: pool?.parking ?? 0,
        busy: pool?.busy ?? 0,
        forkServers: pool?.forkServers ?? 0,
        restarts: pool?.restarts ?? 0,
      },
      queue: { active: queue.active, waiting: queue.waiting, capacity: queue.capacity },
      problem,
    };
  }

  /** Ends every process. */
  async close(): Promise<void> {
    await this.#engine.close();
  }

  async #problem(): Promise<string | null> {
    if (this.#engine.state) return null;
    const soFar = Promise.race([this.#engine.started, Promise.resolve()]);
    return soFar.then(
      () => null,
      (error: unknown) => PungiError.from(error).message,
    );
  }

  async #bytecodeOf(script: CompiledScript): Promise<string> {
    const { bytecodeTag } = await this.#engine.started;
    const key = { sourceSha256: sha256(script.code), filename: script.filename, interpreter: bytecodeTag };
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    const { job } = await admit({ code: script.code, filename: script.filename }, this.config);
    const compiled = await this.#engine.compile(job);
    if ('exception' in compiled) {
      const { type, message } = compiled.exception;
      throw new PungiError('PYTHON_ERROR', `${type}: ${message}`, { exception: compiled.exception });
    }
    this.#cache.set(key, compiled.bytecode);
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

/** An outcome for what never ran. */
function refusal(error: PungiError, code: unknown): Outcome {
  const none = { text: '', bytes: 0, truncated: false };
  return {
    runId: randomUUID(),
    verdict: refusedVerdict(error),
    stdout: none,
    stderr: none,
    value: null,
    usage: { wallMs: 0, cpuMs: 0, peakMemoryMb: 0, waitMs: 0 },
    codeSha256: typeof code === 'string' ? sha256(code) : '',
    isolation: { tier: null, features: [] },
  };
}

function refusedVerdict({ code, message, details }: PungiError): Verdict {
  if (code === 'INVALID_INPUT') {
    return {
      kind: 'invalid',
      code,
      message,
      issues: (details['issues'] as string[] | undefined) ?? [message],
    };
  }
  if (code === 'PYTHON_ERROR') return pythonError(details['exception'] as PythonException);
  if (code === 'SERVER_BUSY') return { kind: 'busy', code, message, queued: Number(details['queued'] ?? 0) };
  if (code === 'CANCELLED') return { kind: 'cancelled', code, message };
  if (code === 'DENIED') return { kind: 'denied', code, message, reason: message };
  return { kind: 'internal', code: 'INTERNAL_ERROR', message };
}
