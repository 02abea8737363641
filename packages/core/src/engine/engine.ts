import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { type Advice, adviceFor } from '../base/advice.js';
import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { machineMemoryMb } from '../base/machine-memory.js';
import { type Caller, callerOf } from '../contract/caller.js';
import { CodeSummary } from '../contract/disclosure.js';
import type { Outcome, PythonException, ScopeViolation } from '../contract/outcome.js';
import { type Completion, PromptInput } from '../contract/prompt.js';
import type { RunOptions } from '../contract/run.js';
import { byCaller, failure, kindOfCode, type Verdict } from '../contract/verdicts.js';
import { Discovery } from '../contract/wrap.js';
import { GenerationGone } from '../runtime/fork-server.js';
import type { Job, OutputSink, WorkerAbout } from '../runtime/job.js';
import { type Backend, type BackendState, bytecodeTagOf, type Worker, type WorkerSlot } from './backend.js';
import { readCompletion } from './completion.js';
import { type EnvironmentRef, PLAIN, type PoolSpec } from './environment-ref.js';
import { FairQueue } from './fair-queue.js';
import { KeepAlive } from './keep-alive.js';
import { LocalBackend, type LocalBackendOptions } from './local-backend.js';
import type { HintContext } from './missing-module.js';
import { OutcomeDraft } from './outcome-draft.js';
import { readViolations } from './scope-verdict.js';
import { SpawnBackend } from './spawn/backend.js';
import { isShallowReport, readException } from './worker-report.js';

export interface EngineOptions extends LocalBackendOptions {
  maxActive: number;
  /** Limit per client, if there are several. */
  maxActivePerClient?: number | undefined;
  maxQueued: number;
  /** The advice for missing packages; that of the library if not given. */
  advice?: Advice;
  /** Runs are on other machines, which bound their memory themselves. */
  backend?: Backend | undefined;
}

/** How a run begins. */
export interface StartHooks {
  /** Called when a worker is there for the code. It gets the code once this resolves, and never if this rejects. */
  beforeStart?: ((runId: string) => Promise<void>) | undefined;
  /** Called when a worker gets the code: not for runs that are refused or cancelled before. */
  onStart?: () => void;
  /** Called when a worker of another machine has confirmed that it runs the code. */
  onConfirmed?: (() => void) | undefined;
}

export interface EngineRunOptions extends RunOptions, StartHooks {
  /** Called before the run resolves, if the job requests a summary and the code was analysed. */
  onSummary?: (summary: CodeSummary) => void;
  /** The advice for this caller, instead of the engine's. */
  advice?: Advice | undefined;
}

/** A run that the gate has admitted. */
export interface AdmittedRun {
  job: Job;
  /** Undefined for the plain interpreter. */
  ref?: EnvironmentRef | undefined;
  poolSpec?: PoolSpec | undefined;
  /** The session that the run is in: its worker is used, and kept. */
  slot?: WorkerSlot | undefined;
  /** The profile of the run, if it has one. */
  profile?: { readonly name: string } | null | undefined;
  /** Run it again if its machine was lost, although it may have started there. */
  retry?: boolean | undefined;
  /** What its machine must have, in a cluster. */
  labels?: Readonly<Record<string, string>> | undefined;
}

/** The result of analysing code without running it. */
export interface Examination {
  violations: ScopeViolation[];
  summary: CodeSummary | null;
  /** Set if the code is not valid Python. */
  exception?: PythonException;
}

/** How often a run is begun again, if its machines are lost: after it may have started, and before. */
const MOST_RETRIES = 2;
const MOST_MOVES = 10;

const NO_LABELS = 'Labels choose a worker of a cluster, and this server is in none: leave them out.';

/** The first backend that serves the tier is used. A new backend is a folder and a line here. */
const BACKENDS = [SpawnBackend, LocalBackend];

/** The backend of this machine. */
export function localBackend(options: LocalBackendOptions, logger: Logger): Backend {
  const Serving = BACKENDS.find(({ serves }) => serves(options.tier))!;
  return new Serving(options, logger);
}

/** Runs Python: queue, acquire a worker, run, outcome. */
export class Engine {
  readonly queue: FairQueue;
  readonly started: Promise<BackendState>;
  readonly backend: Backend;
  #state: BackendState | undefined;
  #closing = new AbortController();
  /** Runs that can be cancelled. */
  readonly #stops = new Set<AbortController>();
  #keepAlive = new KeepAlive();

  constructor(
    private readonly options: EngineOptions,
    logger: Logger,
  ) {
    // Every active run listens to it.
    setMaxListeners(0, this.#closing.signal);
    this.queue = new FairQueue(options.maxActive, options.maxQueued, options.maxActivePerClient);
    this.queue.totalMemoryMb = options.totalMemoryMb ?? usualTotalMb();
    this.backend = options.backend ?? localBackend(options, logger);
    this.backend.observe?.(this.queue);
    this.started = this.#keepAlive.during(() => this.#start());
    this.started.catch(() => {}); // reported by runs and by health checks
  }

  get state(): BackendState | undefined {
    return this.#state;
  }

  /** Throws GenerationGone if the environment was changed or deleted since it was resolved; nothing has run then. */
  async run(run: AdmittedRun, options: EngineRunOptions = {}): Promise<Outcome> {
    const { signal } = options;
    if (signal === undefined) return this.#run(run, options, this.#closing.signal);
    // AbortSignal.any costs several times as much, and every run waits for it.
    const stop = new AbortController();
    const abort = () => stop.abort(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted || this.#closing.signal.aborted) stop.abort();
    this.#stops.add(stop);
    try {
      return await this.#run(run, options, stop.signal);
    } finally {
      this.#stops.delete(stop);
      signal.removeEventListener('abort', abort);
    }
  }

  /** Runs again what was lost before it had started, and what may be repeated. */
  async #run(run: AdmittedRun, options: EngineRunOptions, stop: AbortSignal): Promise<Outcome> {
    // A session's variables are gone with its worker.
    const isMoved = run.slot?.worker === null || run.slot === undefined;
    const notes: string[] = [];
    for (let moves = 0; ; ) {
      const ended = await this.#runOnce(run, options, stop);
      const { verdict } = ended;
      const outcome = notes.length > 0 ? { ...ended, notes: [...notes, ...(ended.notes ?? [])] } : ended;
      if (verdict.kind !== 'lost' || stop.aborted || !isMoved) return outcome;
      if (verdict.started === false) {
        moves += 1;
        if (moves > MOST_MOVES) return outcome;
      } else {
        if (!run.retry || notes.length === MOST_RETRIES) return outcome;
        notes.push(`It was run again: ${verdict.message}`);
      }
    }
  }

  async #runOnce(run: AdmittedRun, options: EngineRunOptions, stop: AbortSignal): Promise<Outcome> {
    const asked = performance.now();
    const { job, ref, profile } = run;
    const name = profile?.name ?? null;
    const allowedHosts = run.poolSpec?.allowedHosts ?? [];
    const where = { profile: name, allowedHosts, ...this.#where(ref, job, options.advice) };
    const draft = new OutcomeDraft(job, where, name, options);
    if (stop.aborted) return draft.finish(failure('cancelled', {}));
    const { memoryMb } = job.limits;
    const { totalMemoryMb = memoryMb } = this.options;
    // One machine is no choice of machines.
    if (Object.keys(run.labels ?? {}).length > 0 && this.backend.cluster === undefined)
      return draft.finish(failure('denied', { reason: NO_LABELS }));
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
      const outcome = await this.#keepAlive.during(() => this.#runNow(run, draft, stop, asked, options));
      if (draft.files.length > 0) options.onFiles?.(draft.runId, draft.files);
      return outcome;
    } finally {
      leave();
    }
  }

  /** If no total is set, only runs with raised limits wait for each other. Files may be in memory, too. */
  #roomFor({ job: { limits }, poolSpec }: AdmittedRun): number {
    if (poolSpec?.isRaised) return limits.memoryMb + limits.diskMb;
    return this.options.totalMemoryMb === undefined ? 0 : limits.memoryMb;
  }

  async #runNow(
    { job, ref, poolSpec = PLAIN, slot, labels }: AdmittedRun,
    draft: OutcomeDraft,
    stop: AbortSignal,
    asked: number,
    { onSummary, beforeStart, onStart, onConfirmed }: EngineRunOptions,
  ): Promise<Outcome> {
    const { timeoutMs } = job.limits;
    const state = this.#state ?? (await this.#startedWithin(timeoutMs, stop));
    if (state === undefined)
      return draft.finish(
        stop.aborted
          ? failure('cancelled', {})
          : failure('busy', { queued: this.queue.waiting }, noWorker(timeoutMs)),
      );
    let worker: Worker;
    try {
      const spec = { ref, poolSpec, waitMs: timeoutMs, labels, isForSession: job.session };
      worker = slot?.worker ?? (await this.backend.acquire(spec, stop));
    } catch (error) {
      if (stop.aborted) return draft.finish(failure('cancelled', {}));
      if (error instanceof GenerationGone) throw error;
      const { code, message, details } = PungiError.from(error);
      if (kindOfCode(code) === 'no-environment')
        return draft.finish({ ...failure('no-environment', {}, message), code } as Verdict);
      if (code === 'SERVER_BUSY')
        return draft.finish(failure('busy', { queued: this.queue.waiting, ...byCaller(details) }, message));
      return draft.finish(
        code === 'DENIED' ? failure('denied', { reason: message }) : failure('internal', {}, message),
      );
    }
    try {
      if (beforeStart) await beforeStart(draft.runId);
      onStart?.();
      const handedOver = performance.now();
      const write: OutputSink = (stream, data) => draft.write(stream, data);
      const end = await worker.run(job, draft.runId, write, stop, onConfirmed);
      if (end.summary) onSummary?.(end.summary);
      const { waitedMs = 0 } = end;
      // It may have run on another machine than it was sent to.
      const { tier, features } = worker.tier ? { ...worker.about, tier: worker.tier } : state;
      draft.began({ tier, features }, handedOver - asked + waitedMs);
      return draft.end(end, { wasStopped: stop.aborted, tookMs: performance.now() - handedOver - waitedMs });
    } finally {
      keepOrRelease(worker, slot);
    }
  }

  /** Resolves to undefined if it takes longer. This machine starts at once or says what is missing; another one may never be there. */
  #startedWithin(waitMs: number, stop: AbortSignal): Promise<BackendState | undefined> {
    const isLocal = this.options.backend === undefined;
    return untilAborted(this.started, isLocal ? stop : AbortSignal.any([stop, AbortSignal.timeout(waitMs)]));
  }

  /** Copies the worker of a session, in a turn of its caller. */
  async copy<T>(caller: Caller, signal: AbortSignal, work: (stop: AbortSignal) => Promise<T>): Promise<T> {
    const stop = AbortSignal.any([signal, this.#closing.signal]);
    const leave = await this.queue.enter(caller.connection, stop);
    try {
      return await this.#keepAlive.during(() => work(stop));
    } finally {
      leave();
    }
  }

  /** Compiles without running; returns bytecode in base64 or the compiler's exception. */
  async compile(
    job: Job,
    ref?: EnvironmentRef,
  ): Promise<{ bytecode: string; tag: string } | { exception: PythonException }> {
    const { report, about } = await this.#ask({ ...job, task: 'compile' }, ref);
    const bytecode = (report as { bytecode?: unknown } | undefined)?.bytecode;
    if (typeof bytecode === 'string') return { bytecode, tag: bytecodeTagOf(about) };
    const raised = readException(report, this.#where(ref, job));
    if (raised) return { exception: raised.exception };
    throw new PungiError('INTERNAL_ERROR', 'The compiler did not answer; the code may be nested too deeply.');
  }

  /** Returns the imported modules outside of the standard library; none if the code does not compile. */
  async foreignImports(job: Job): Promise<string[]> {
    const { report } = await this.#ask({ ...job, task: 'imports' });
    const modules = (report as { imports?: unknown } | undefined)?.imports;
    return Array.isArray(modules) ? modules.filter((name) => typeof name === 'string') : [];
  }

  /** Checks the code against the job's rules and summarizes what it does, without running it. */
  async examine(job: Job, ref?: EnvironmentRef): Promise<Examination> {
    const { report } = await this.#ask({ ...job, task: 'check' }, ref);
    const raised = readException(report, this.#where(ref, job));
    if (raised) return { violations: [], summary: null, exception: raised.exception };
    const violations = readViolations(report);
    const summary = CodeSummary.safeParse((report as { summary?: unknown } | undefined)?.summary).data;
    if (violations && summary) return { violations, summary };
    throw new PungiError('INTERNAL_ERROR', 'The code could not be examined; it may be nested too deeply.');
  }

  /** Finds the parts of a script that can be tools by reading it, or returns the compiler's exception. */
  async discover(job: Job, ref?: EnvironmentRef): Promise<Discovery | { exception: PythonException }> {
    const { report } = await this.#ask({ ...job, task: 'discover' }, ref);
    const found = isShallowReport(report) ? Discovery.safeParse(report).data : undefined;
    if (found) return found;
    const raised = readException(report, this.#where(ref, job));
    if (raised) return { exception: raised.exception };
    throw new PungiError('INTERNAL_ERROR', 'The script could not be read; it may be nested too deeply.');
  }

  /** Says how the code may go on: in the session of the slot, or in a fresh worker. */
  async complete(job: Job, ref?: EnvironmentRef, slot?: WorkerSlot): Promise<Completion> {
    return readCompletion((await this.#ask({ ...job, task: 'complete' }, ref, slot)).report);
  }

  /** Says whether code at a prompt is whole, by Python's own rules. */
  async read(job: Job, ref?: EnvironmentRef): Promise<PromptInput> {
    const { report } = await this.#ask({ ...job, task: 'read' }, ref);
    const read = PromptInput.safeParse(report).data;
    if (read) return read;
    throw new PungiError('INTERNAL_ERROR', 'The input could not be read; it may be nested too deeply.');
  }

  /** Lets a worker, or that of a session, analyse code without running it. */
  async #ask(
    job: Job,
    ref?: EnvironmentRef,
    slot?: WorkerSlot,
  ): Promise<{ report: unknown; about: WorkerAbout }> {
    const { signal } = this.#closing;
    const waitMs = job.limits.timeoutMs;
    const state = this.#state ?? (await this.#startedWithin(waitMs, signal));
    if (state === undefined && !signal.aborted) throw new PungiError('SERVER_BUSY', noWorker(waitMs));
    const leave = await this.queue.enter('compile', signal);
    try {
      return await this.#keepAlive.during(async () => {
        const worker = slot?.worker ?? (await this.backend.acquire({ ref, waitMs }, signal));
        try {
          const { report, lost } = await worker.run(job, randomUUID(), () => {}, signal);
          if (lost) throw new PungiError('RUN_LOST', lost.message, { started: lost.started });
          return { report, about: worker.about };
        } finally {
          keepOrRelease(worker, slot);
        }
      });
    } finally {
      leave();
    }
  }

  /** Identifies the bytecode of an environment's interpreter, once it had a worker. */
  bytecodeTag(ref?: EnvironmentRef): string | undefined {
    const about = this.backend.about({ ref });
    return about && bytecodeTagOf(about);
  }

  /** Parks workers before the first run needs them. */
  async warm(ref: EnvironmentRef | undefined, poolSpec: PoolSpec = PLAIN): Promise<void> {
    await this.started;
    this.backend.warm({ ref, poolSpec });
  }

  async close(): Promise<void> {
    const reason = new PungiError('CANCELLED', 'Pungi is shutting down.');
    for (const stop of this.#stops) stop.abort(reason);
    this.#closing.abort(reason);
    await this.#keepAlive.during(async () => {
      await this.started.catch(() => {});
      await this.backend.close();
    });
  }

  async #start(): Promise<BackendState> {
    const state = await this.backend.start(this.#closing.signal);
    this.#state = state;
    // The kernel enforces the total for all runs.
    if (state.cgroup.version !== null || this.options.backend)
      this.queue.totalMemoryMb = Number.POSITIVE_INFINITY;
    return state;
  }

  #where(
    ref: EnvironmentRef | undefined,
    { files, sources = [] }: Job,
    advice = this.options.advice ?? adviceFor('library', true),
  ): HintContext {
    return {
      environment: ref?.environment ?? this.options.environment,
      advice,
      files: [...files, ...sources].map(({ path }) => path ?? ''),
    };
  }
}

/** Settles as the promise does, or resolves to undefined if the signal comes first. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const abort = () => resolve(undefined);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function keepOrRelease(worker: Worker, slot: WorkerSlot | undefined): void {
  const isKept = slot !== undefined && (worker.isKept || (worker.copies?.checkpoints ?? []).length > 0);
  if (slot) slot.worker = isKept ? worker : null;
  if (slot && !isKept) slot.gone = worker.goneBecause;
  if (!isKept) worker.release();
}

/** The default total without cgroups, the same that the kernel enforces with them. */
const usualTotalMb = () => Math.floor(0.8 * machineMemoryMb());

const noWorker = (waitMs: number): string =>
  `No worker of the cluster was there within ${waitMs} ms: start one with pungi worker.`;

const neverFits = (memoryMb: number, totalMb: number): string =>
  `The run may use ${memoryMb} MB of memory and all runs together only ${totalMb} MB (MAX_TOTAL_MEMORY_MB): lower the run's memory limit, or raise the total.`;
