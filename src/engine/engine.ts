import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { type Outcome, type PythonException, TIERS, type Tier } from '../contract/outcome.js';
import type { RunOptions } from '../contract/run.js';
import { ForkServer } from '../runtime/fork-server.js';
import { Listener } from '../runtime/listener.js';
import type { Job, Supervisor, WorkerAbout } from '../runtime/supervisor.js';
import { findInterpreter, type Interpreter } from '../sandbox/interpreter.js';
import { FairQueue } from './fair-queue.js';
import type { Furnishing, Home } from './home.js';
import { OutcomeDraft } from './outcome-draft.js';
import { Pool } from './pool.js';
import { Pools } from './pools.js';
import { cancelled, internal, readException } from './verdict.js';

export interface EngineOptions {
  python?: string | undefined;
  tier: Tier | 'auto';
  allowUnsandboxed: boolean;
  poolSize: number;
  preload: string[];
  diskMb: number;
  maxActive: number;
  maxQueued: number;
  idleTimeoutMs: number;
  /** The name of the environment that the interpreter itself is. */
  environment: string;
  maxWarm: number;
}

const NO_WINDOWS =
  'This version cannot run Python on Windows itself; start Pungi inside WSL 2, where the sandbox works.';

/** A run that the gate has let through. */
export interface AdmittedRun {
  job: Job;
  client: string;
  /** Without one, the interpreter itself is meant. */
  home?: Home | undefined;
  furnishing?: Furnishing | undefined;
}

interface Entered {
  forkServer: ForkServer;
  supervisor: Supervisor;
}

/** What came up at start: the interpreter, the tier that was really entered, and why no stronger one was. */
export interface EngineState {
  interpreter: Interpreter;
  tier: Tier;
  features: string[];
  /** Identifies the interpreter's bytecode. */
  bytecodeTag: string;
  refused: { tier: Tier; reason: string }[];
}

/** Runs Python: queue, take a parked worker, supervise, outcome. */
export class Engine {
  readonly queue: FairQueue;
  readonly started: Promise<EngineState>;
  #options: EngineOptions;
  #logger: Logger;
  #listener = new Listener();
  #pools: Pools;
  #state: EngineState | undefined;
  #closing = new AbortController();

  constructor(options: EngineOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
    this.queue = new FairQueue(options.maxActive, options.maxQueued);
    this.#pools = new Pools(options.maxWarm, (home) => this.#newPool(home));
    this.started = this.#start();
    this.started.catch(() => {}); // told to whoever runs or asks
  }

  get state(): EngineState | undefined {
    return this.#state;
  }

  get pools(): Pools {
    return this.#pools;
  }

  async run({ job, client, home }: AdmittedRun, { signal, onLine }: RunOptions = {}): Promise<Outcome> {
    const asked = performance.now();
    const stop = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal;
    const draft = new OutcomeDraft(job, home?.environment ?? this.#options.environment, onLine);
    if (stop.aborted) return draft.finish(cancelled());
    let leave: () => void;
    try {
      leave = await this.queue.enter(client, stop);
    } catch (error) {
      if (stop.aborted || !(error instanceof PungiError)) return draft.finish(cancelled());
      const queued = this.queue.waiting;
      return draft.finish({ kind: 'busy', code: 'SERVER_BUSY', message: error.message, queued });
    }
    try {
      return await this.#runNow(job, home, draft, stop, asked);
    } finally {
      leave();
    }
  }

  async #runNow(
    job: Job,
    home: Home | undefined,
    draft: OutcomeDraft,
    stop: AbortSignal,
    asked: number,
  ): Promise<Outcome> {
    const { tier, features } = await this.started;
    const pool = this.#poolOf(home);
    let supervisor: Supervisor;
    try {
      supervisor = await pool.take(stop);
    } catch (error) {
      if (stop.aborted) return draft.finish(cancelled());
      return draft.finish(internal(PungiError.from(error).message));
    }
    const handedOver = performance.now();
    draft.began({ tier, features }, handedOver - asked);
    const end = await supervisor.run(job, (stream, data) => draft.write(stream, data), stop, pool.isPressed);
    return draft.end(end, {
      wasStopped: stop.aborted,
      tookMs: performance.now() - handedOver,
    });
  }

  /** Compiles without running; the answer is bytecode in base64 or the exception that the compiler raised. */
  async compile(
    job: Job,
    home?: Home,
  ): Promise<{ bytecode: string; tag: string } | { exception: PythonException }> {
    const { report, about } = await this.#ask({ ...job, task: 'compile' }, home);
    const bytecode = (report as { bytecode?: unknown } | undefined)?.bytecode;
    if (typeof bytecode === 'string') return { bytecode, tag: tagOf(about) };
    const raised = readException(report, home?.environment ?? this.#options.environment);
    if (raised) return { exception: raised.exception };
    throw new PungiError('INTERNAL_ERROR', 'The compiler gave no answer; the code may be nested too deeply.');
  }

  /** The modules beyond the standard library that the code imports; none where it does not compile. */
  async foreignImports(job: Job): Promise<string[]> {
    const { report } = await this.#ask({ ...job, task: 'imports' });
    const modules = (report as { imports?: unknown } | undefined)?.imports;
    return Array.isArray(modules) ? modules.map(String) : [];
  }

  /** Has one worker look at code that it does not run. */
  async #ask(job: Job, home?: Home): Promise<{ report: unknown; about: WorkerAbout }> {
    await this.started;
    const leave = await this.queue.enter('compile', this.#closing.signal);
    try {
      const supervisor = await this.#poolOf(home).take(this.#closing.signal);
      const { report } = await supervisor.run(job, () => {}, this.#closing.signal);
      return { report, about: supervisor.about! };
    } finally {
      leave();
    }
  }

  /** Identifies the bytecode of a home's interpreter, once a worker of it was there to tell. */
  bytecodeTag(home?: Home): string | undefined {
    const about = this.#poolOf(home).about;
    return about && tagOf(about);
  }

  /** Parks workers before the first run asks for them. */
  async warm(home: Home): Promise<void> {
    await this.started;
    this.#pools.for(home);
  }

  async close(): Promise<void> {
    this.#closing.abort(new PungiError('CANCELLED', 'Pungi is shutting down.'));
    await this.started.catch(() => {});
    await this.#pools.close();
    await this.#listener.close();
  }

  async #start(): Promise<EngineState> {
    if (process.platform === 'win32') throw new PungiError('SANDBOX_UNAVAILABLE', NO_WINDOWS);
    const interpreter = await findInterpreter(this.#options.python, { signal: this.#closing.signal });
    await this.#listener.listening;
    const refused: EngineState['refused'] = [];
    for (const tier of this.#tiersToTry()) {
      const entered = await this.#enter(tier, interpreter).catch((error: Error) => error);
      if (!(entered instanceof Error)) return this.#settle(interpreter, tier, entered, refused);
      this.#logger.debug('An isolation tier is not available', { tier, reason: entered.message });
      refused.push({ tier, reason: entered.message });
    }
    throw sandboxUnavailable(refused, this.#options);
  }

  #tiersToTry(): Tier[] {
    const { tier, allowUnsandboxed } = this.#options;
    const wanted = tier === 'auto' ? TIERS : [tier];
    return wanted.filter((one) => one !== 'process' || allowUnsandboxed);
  }

  /** A tier is there if a worker can be parked in it; nothing less is believed. */
  async #enter(tier: Tier, interpreter: Interpreter): Promise<Entered> {
    const { environment } = this.#options;
    const forkServer = this.#newForkServer(tier, { environment, python: interpreter.path, roots: [] });
    try {
      return { forkServer, supervisor: await forkServer.start() };
    } catch (error) {
      await forkServer.end();
      throw error;
    }
  }

  #settle(
    interpreter: Interpreter,
    tier: Tier,
    { forkServer, supervisor }: Entered,
    refused: EngineState['refused'],
  ): EngineState {
    const about = supervisor.about!;
    this.#state = { interpreter, tier, features: about.features, bytecodeTag: tagOf(about), refused };
    const home = this.#interpreterHome();
    this.#pools.adopt(home, this.#newPool(home, { forkServer, supervisor }));
    this.#logger.info('Ready to run Python', {
      tier,
      interpreter: interpreter.path,
      version: interpreter.version,
    });
    return this.#state;
  }

  /** The interpreter as an environment: what runs that name none use until something is installed. */
  #interpreterHome(): Home {
    const { interpreter } = this.#state!;
    return { environment: this.#options.environment, generation: '', python: interpreter.path, roots: [] };
  }

  #poolOf(home: Home | undefined): Pool {
    return this.#pools.for(home ?? this.#interpreterHome());
  }

  #newPool(home: Home, running?: Entered): Pool {
    const { poolSize: size, idleTimeoutMs } = this.#options;
    const start = () => this.#newForkServer(this.#state!.tier, home);
    return new Pool({ size, idleTimeoutMs, start, logger: this.#logger }, running);
  }

  #newForkServer(tier: Tier, { python, roots, environment }: Omit<Home, 'generation'>): ForkServer {
    const { preload, diskMb } = this.#options;
    const preloadIsOptional = environment !== this.#options.environment;
    const options = { python, tier, preload, preloadIsOptional, diskMb, roots };
    return new ForkServer(options, this.#listener, this.#logger);
  }
}

const tagOf = ({ python, magic }: WorkerAbout) => `${python}-${magic}`;

function sandboxUnavailable(
  refused: EngineState['refused'],
  { tier, allowUnsandboxed }: EngineOptions,
): PungiError {
  const why = refused.map(({ tier: name, reason }) => `${name}: ${reason}`).join('; ');
  const advice = allowUnsandboxed
    ? 'Mend what is named there, or choose another interpreter with PUNGI_PYTHON.'
    : tier === 'process'
      ? 'The process tier does not isolate; set ALLOW_UNSANDBOXED=true if you trust the code.'
      : 'Allow unprivileged user namespaces or use Linux 5.13 or newer; if you trust the code, ALLOW_UNSANDBOXED=true runs it without isolation.';
  return new PungiError(
    'SANDBOX_UNAVAILABLE',
    `No sandbox can be entered here${why ? ` (${why})` : ''}. ${advice}`,
    { refused },
  );
}
