import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { isSandboxed, type Tier } from '../contract/outcome.js';
import { GenerationGone } from '../runtime/fork-server.js';
import type { Job, RunEnd, WorkerAbout } from '../runtime/job.js';
import { Listener } from '../runtime/listener.js';
import type { Supervisor } from '../runtime/supervisor.js';
import { findInterpreter, type Interpreter } from '../sandbox/interpreter.js';
import {
  type Backend,
  type BackendState,
  bytecodeTagOf,
  type Worker,
  type WorkerFigures,
  type WorkerSpec,
} from './backend.js';
import { type EnvironmentRef, isPlain, PLAIN } from './environment-ref.js';
import { LocalWorker } from './local-worker.js';
import type { Pool } from './pool.js';
import { type Entered, PoolOpener, type PoolOpenerOptions } from './pool-opener.js';
import { Pools } from './pools.js';
import { needsLinux, sandboxUnavailable } from './sandbox-unavailable.js';

export interface LocalBackendOptions extends PoolOpenerOptions {
  python?: string | undefined;
  tier: Tier | 'auto';
  allowUnsandboxed: boolean;
  maxWarm: number;
}

/** The tiers that a fork server can enter, from the strongest down. */
const TIERS: readonly Tier[] = ['namespace', 'landlock', 'process'];

/** Workers on this machine: parked ahead of demand by fork servers, in the strongest available tier. */
export class LocalBackend implements Backend {
  static serves = (): boolean => true;

  readonly keepsWorkers = true;
  readonly pools: Pools;
  readonly #listener = new Listener();
  readonly #opener: PoolOpener;
  #state: BackendState | undefined;

  constructor(
    private readonly options: LocalBackendOptions,
    private readonly logger: Logger,
  ) {
    this.#opener = new PoolOpener(options, this.#listener, logger);
    this.pools = new Pools(options.maxWarm, (ref, poolSpec) =>
      this.#opener.open(this.#state!.tier, ref, poolSpec),
    );
  }

  async start(signal: AbortSignal): Promise<BackendState> {
    if (process.platform === 'win32') throw needsLinux(this.options);
    const interpreter = await findInterpreter(this.options.python, { signal });
    await this.#listener.listening;
    const refused: BackendState['refused'] = [];
    for (const tier of this.#tiersToTry()) {
      const entered = await this.#enter(tier, interpreter).catch((error: Error) => error);
      if (!(entered instanceof Error)) return this.#settle(interpreter, tier, entered, refused);
      // The packages failed, not the tier: a weaker one would not load them either.
      if (entered instanceof PungiError) throw entered;
      this.logger.debug('An isolation tier is not available', { tier, reason: entered.message });
      refused.push({ tier, reason: entered.message });
    }
    throw sandboxUnavailable(refused, this.options);
  }

  async acquire(spec: WorkerSpec, signal: AbortSignal): Promise<Worker> {
    const pool = this.#poolOf(spec);
    let supervisor: Supervisor;
    try {
      supervisor = await pool.take(signal);
    } catch (error) {
      const { poolSpec = PLAIN } = spec;
      const isLost = error instanceof GenerationGone || !isPlain(poolSpec);
      if (!signal.aborted && isLost) this.pools.giveUp(pool);
      throw error;
    }
    return new LocalWorker({
      supervisor,
      isPressed: () => pool.isPressed,
      enterNetwork: (runId) => this.#opener.networkOf(pool)?.admit(supervisor.caller, runId),
      onEnd: (job, end) => this.#learn(pool, spec.ref, job, end),
      giveBack: () => pool.giveBack(supervisor),
    });
  }

  warm(spec: WorkerSpec): void {
    this.#poolOf(spec);
  }

  about(spec: WorkerSpec): WorkerAbout | undefined {
    return this.#poolOf(spec).about;
  }

  get environments(): string[] {
    return this.pools.names;
  }

  figures(environment: string): WorkerFigures | undefined {
    return this.pools.find(environment);
  }

  retire(environment: string, inForce: string | null): Promise<void> {
    return this.pools.retire(environment, inForce);
  }

  async close(): Promise<void> {
    await this.pools.close();
    await this.#listener.close();
  }

  /** A pool whose fork server lacks a module that its runs import gets another one. */
  #learn(pool: Pool, ref: EnvironmentRef | undefined, { code, task }: Job, { facts }: RunEnd): void {
    const { learned } = this.#opener;
    if (learned === null || ref === undefined || task !== undefined || facts === null) return;
    if (learned.note(ref, code, facts.cpuMs).every((name) => pool.hasTried(name))) return;
    void this.pools.renew(pool).then((next) => {
      if (next !== undefined) learned.settle(ref, next?.preloads ?? null);
    });
  }

  #poolOf({ ref = this.#interpreterRef(), poolSpec }: WorkerSpec): Pool {
    return poolSpec === undefined ? this.pools.some(ref) : this.pools.for(ref, poolSpec);
  }

  #tiersToTry(): Tier[] {
    const { tier, allowUnsandboxed } = this.options;
    const wanted = tier === 'auto' ? TIERS : [tier];
    return wanted.filter((one) => isSandboxed(one) || allowUnsandboxed);
  }

  /** A tier counts as available only if a worker could be parked in it. */
  async #enter(tier: Tier, interpreter: Interpreter): Promise<Entered> {
    const forkServer = this.#opener.startForkServer(tier, this.#refOf(interpreter), PLAIN, null);
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
    refused: BackendState['refused'],
  ): BackendState {
    const about = supervisor.about!;
    const { features, cgroup } = about;
    this.#state = { interpreter, tier, features, bytecodeTag: bytecodeTagOf(about), refused, cgroup };
    const ref = this.#interpreterRef();
    this.pools.adopt(ref, PLAIN, this.#opener.open(tier, ref, PLAIN, { forkServer, supervisor }));
    this.logger.info('Ready to run Python', {
      tier,
      interpreter: interpreter.path,
      version: interpreter.version,
    });
    return this.#state;
  }

  /** The plain interpreter as an environment: runs that name none use it until something is installed. */
  #interpreterRef(): EnvironmentRef {
    return this.#refOf(this.#state!.interpreter);
  }

  #refOf({ path: python }: Interpreter): EnvironmentRef {
    const { environment, systemPackages = false } = this.options;
    return { environment, generation: '', python, roots: [], isBare: !systemPackages };
  }
}
