import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { type Advice, adviceFor } from '../base/advice.js';
import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { machineMemoryMb } from '../base/machine-memory.js';
import { callerOf } from '../contract/caller.js';
import { CodeSummary } from '../contract/disclosure.js';
import type { Outcome, PythonException, ScopeViolation } from '../contract/outcome.js';
import type { RunOptions } from '../contract/run.js';
import { failure } from '../contract/verdicts.js';
import { Discovery } from '../contract/wrap.js';
import { GenerationGone } from '../runtime/fork-server.js';
import type { Job, WorkerAbout } from '../runtime/supervisor.js';
import { type Backend, type BackendState, bytecodeTagOf, type Worker } from './backend.js';
import { type EnvironmentRef, PLAIN, type PoolSpec } from './environment-ref.js';
import { FairQueue } from './fair-queue.js';
import { KeepAlive } from './keep-alive.js';
import { LocalBackend, type LocalBackendOptions } from './local-backend.js';
import type { Whereabouts } from './missing-module.js';
import { OutcomeDraft } from './outcome-draft.js';
import { readViolations } from './scope-verdict.js';
import { SpawnBackend } from './spawn/backend.js';
import { isShallowReport, readException } from './worker-words.js';

export interface EngineOptions extends LocalBackendOptions {
  maxActive: number;
  /** Of one client, where there are several. */
  maxActivePerClient?: number | undefined;
  maxQueued: number;
  /** What to tell whoever lacks a package; as a program that calls methods if not given. */
  advice?: Advice;
}

export interface EngineRunOptions extends RunOptions {
  /** Told before the run resolves, where the job asks for it and the code was looked at. */
  onSummary?: (summary: CodeSummary) => void;
  /** Told when a worker is handed the code: not for what is refused or cancelled before. */
  onStart?: () => void;
}

/** A run that the gate has let through. */
export interface AdmittedRun {
  job: Job;
  /** Without one, the interpreter itself is meant. */
  ref?: EnvironmentRef | undefined;
  poolSpec?: PoolSpec | undefined;
  /** The profile whose rules hold, if one does. */
  profile?: { readonly name: string } | null | undefined;
}

/** What can be said of code without running it. */
export interface Examination {
  violations: ScopeViolation[];
  summary: CodeSummary | null;
  /** Where it is no Python. */
  exception?: PythonException;
}

/** The first that serves the tier is taken: a new backend is a folder and a line here. */
const BACKENDS = [SpawnBackend, LocalBackend];

/** Runs Python: queue, acquire a worker, run, outcome. */
export class Engine {
  readonly queue: FairQueue;
  readonly started: Promise<BackendState>;
  readonly backend: Backend;
  #state: BackendState | undefined;
  #closing = new AbortController();
  #keepAlive = new KeepAlive();

  constructor(
    private readonly options: EngineOptions,
    logger: Logger,
  ) {
    // Every run in flight listens to it.
    setMaxListeners(0, this.#closing.signal);
    this.queue = new FairQueue(options.maxActive, options.maxQueued, options.maxActivePerClient);
    this.queue.totalMemoryMb = options.totalMemoryMb ?? usualTotalMb();
    const Serving = BACKENDS.find(({ serves }) => serves(options.tier))!;
    this.backend = new Serving(options, logger);
    this.started = this.#keepAlive.during(() => this.#start());
    this.started.catch(() => {}); // reported to whoever runs or asks
  }

  get state(): BackendState | undefined {
    return this.#state;
  }

  /** Throws GenerationGone where the environment was changed or deleted since it was looked up; nothing was run then. */
  async run(run: AdmittedRun, options: EngineRunOptions = {}): Promise<Outcome> {
    const asked = performance.now();
    const { job, ref, profile } = run;
    const { signal } = options;
    const stop = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal;
    const draft = new OutcomeDraft(job, this.#where(ref, job), profile?.name ?? null, options);
    if (stop.aborted) return draft.finish(failure('cancelled', {}));
    const { memoryMb } = job.limits;
    const { totalMemoryMb = memoryMb } = this.options;
    if (memoryMb > totalMemoryMb)
      return draft.finish(failure('denied', { reason: neverFits(memoryMb, totalMemoryMb) }));
    let leave: () => void;
    try {
      leave = await this.queue.enter(callerOf(options.caller).connection, stop, this.#roomFor(run));
    } catch (error) {
      if (stop.aborted || !(error instanceof PungiError)) return draft.finish(failure('cancelled', {}));
      const queued = this.queue.waiting;
      return draft.finish(failure('busy', { queued }, error.message));
    }
    try {
      return await this.#keepAlive.during(() => this.#runNow(run, draft, stop, asked, options));
    } finally {
      leave();
    }
  }

  /** Where no total was set, only runs that asked for more than usual wait for each other. Files may lie in memory, too. */
  #roomFor({ job: { limits }, poolSpec }: AdmittedRun): number {
    if (poolSpec?.isRaised) return limits.memoryMb + limits.diskMb;
    return this.options.totalMemoryMb === undefined ? 0 : limits.memoryMb;
  }

  async #runNow(
    { job, ref, poolSpec = PLAIN }: AdmittedRun,
    draft: OutcomeDraft,
    stop: AbortSignal,
    asked: number,
    { onSummary, onStart }: EngineRunOptions,
  ): Promise<Outcome> {
    const { tier, features } = await this.started;
    let worker: Worker;
    try {
      worker = await this.backend.acquire({ ref, poolSpec }, stop);
    } catch (error) {
      if (stop.aborted) return draft.finish(failure('cancelled', {}));
      if (error instanceof GenerationGone) throw error;
      const { code, message } = PungiError.from(error);
      if (code === 'ENVIRONMENT_DAMAGED') return draft.finish({ kind: 'no-environment', code, message });
      return draft.finish(
        code === 'DENIED' ? failure('denied', { reason: message }) : failure('internal', {}, message),
      );
    }
    try {
      onStart?.();
      const handedOver = performance.now();
      draft.began({ tier, features }, handedOver - asked);
      const end = await worker.run(job, draft.runId, (stream, data) => draft.write(stream, data), stop);
      if (end.summary) onSummary?.(end.summary);
      return draft.end(end, { wasStopped: stop.aborted, tookMs: performance.now() - handedOver });
    } finally {
      worker.release();
    }
  }

  /** Compiles without running; the answer is bytecode in base64 or the exception that the compiler raised. */
  async compile(
    job: Job,
    ref?: EnvironmentRef,
  ): Promise<{ bytecode: string; tag: string } | { exception: PythonException }> {
    const { report, about } = await this.#ask({ ...job, task: 'compile' }, ref);
    const bytecode = (report as { bytecode?: unknown } | undefined)?.bytecode;
    if (typeof bytecode === 'string') return { bytecode, tag: bytecodeTagOf(about) };
    const raised = readException(report, this.#where(ref, job));
    if (raised) return { exception: raised.exception };
    throw new PungiError('INTERNAL_ERROR', 'The compiler gave no answer; the code may be nested too deeply.');
  }

  /** The modules beyond the standard library that the code imports; none where it does not compile. */
  async foreignImports(job: Job): Promise<string[]> {
    const { report } = await this.#ask({ ...job, task: 'imports' });
    const modules = (report as { imports?: unknown } | undefined)?.imports;
    return Array.isArray(modules) ? modules.filter((name) => typeof name === 'string') : [];
  }

  /** Holds the code against the job's rules and tells what it does, without running it. */
  async examine(job: Job, ref?: EnvironmentRef): Promise<Examination> {
    const { report } = await this.#ask({ ...job, task: 'check' }, ref);
    const raised = readException(report, this.#where(ref, job));
    if (raised) return { violations: [], summary: null, exception: raised.exception };
    const violations = readViolations(report);
    const summary = CodeSummary.safeParse((report as { summary?: unknown } | undefined)?.summary).data;
    if (violations && summary) return { violations, summary };
    throw new PungiError('INTERNAL_ERROR', 'The code could not be examined; it may be nested too deeply.');
  }

  /** What of a script can be a tool, found by reading it; or the exception that the compiler raised. */
  async discover(job: Job, ref?: EnvironmentRef): Promise<Discovery | { exception: PythonException }> {
    const { report } = await this.#ask({ ...job, task: 'discover' }, ref);
    const found = isShallowReport(report) ? Discovery.safeParse(report).data : undefined;
    if (found) return found;
    const raised = readException(report, this.#where(ref, job));
    if (raised) return { exception: raised.exception };
    throw new PungiError('INTERNAL_ERROR', 'The script could not be read; it may be nested too deeply.');
  }

  /** Has one worker look at code that it does not run. */
  async #ask(job: Job, ref?: EnvironmentRef): Promise<{ report: unknown; about: WorkerAbout }> {
    await this.started;
    const leave = await this.queue.enter('compile', this.#closing.signal);
    try {
      return await this.#keepAlive.during(async () => {
        const { signal } = this.#closing;
        const worker = await this.backend.acquire({ ref }, signal);
        try {
          const { report } = await worker.run(job, randomUUID(), () => {}, signal);
          return { report, about: worker.about };
        } finally {
          worker.release();
        }
      });
    } finally {
      leave();
    }
  }

  /** Identifies the bytecode of an environment's interpreter, once a worker of it was there. */
  bytecodeTag(ref?: EnvironmentRef): string | undefined {
    const about = this.backend.about({ ref });
    return about && bytecodeTagOf(about);
  }

  /** Parks workers before the first run asks for them. */
  async warm(ref: EnvironmentRef | undefined, poolSpec: PoolSpec = PLAIN): Promise<void> {
    await this.started;
    this.backend.warm({ ref, poolSpec });
  }

  async close(): Promise<void> {
    this.#closing.abort(new PungiError('CANCELLED', 'Pungi is shutting down.'));
    await this.#keepAlive.during(async () => {
      await this.started.catch(() => {});
      await this.backend.close();
    });
  }

  async #start(): Promise<BackendState> {
    const state = await this.backend.start(this.#closing.signal);
    this.#state = state;
    // The kernel holds all runs together to it.
    if (state.cgroup.version !== null) this.queue.totalMemoryMb = Number.POSITIVE_INFINITY;
    return state;
  }

  #where(ref: EnvironmentRef | undefined, { files }: Job): Whereabouts {
    const { environment, advice = adviceFor('library', true) } = this.options;
    return { environment: ref?.environment ?? environment, advice, files: files.map(({ path }) => path) };
  }
}

/** Without cgroups, by which the kernel holds all runs together to as much. */
const usualTotalMb = () => Math.floor(0.8 * machineMemoryMb());

const neverFits = (memoryMb: number, totalMb: number): string =>
  `The run may use ${memoryMb} MB of memory and all runs together only ${totalMb} MB (MAX_TOTAL_MEMORY_MB): lower the run's memory limit, or raise the total.`;
