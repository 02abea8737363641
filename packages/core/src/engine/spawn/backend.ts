import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PungiError } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import type { Tier } from '../../contract/outcome.js';
import { whatIsGone } from '../../runtime/fork-server.js';
import type { WorkerAbout } from '../../runtime/job.js';
import { PrivateFolder } from '../../runtime/private-folder.js';
import { findInterpreter, type Interpreter } from '../../sandbox/interpreter.js';
import { SANDBOX_UID } from '../../sandbox/sandbox-uid.js';
import {
  type Backend,
  type BackendState,
  bytecodeTagOf,
  type Worker,
  type WorkerFigures,
  type WorkerSpec,
} from '../backend.js';
import { resolveDataFolders } from '../data-folders.js';
import { PLAIN } from '../environment-ref.js';
import { noNetworkIn } from '../pool-opener.js';
import { needsLinux, needsPermission } from '../sandbox-unavailable.js';
import { SpawnedWorker } from './worker.js';

export interface SpawnBackendOptions {
  python?: string | undefined;
  tier: Tier | 'auto';
  allowUnsandboxed: boolean;
  memoryMb: number;
  systemPackages?: boolean;
  /** The environment name of the plain interpreter. */
  environment: string;
}

interface Owned {
  worker: SpawnedWorker;
  environment: string;
  generation: string;
}

/** One plain interpreter process per run, on any system. It has no isolation: it is for trusted code. */
export class SpawnBackend implements Backend {
  /** The fork server and its tiers need Linux. */
  static serves = (tier: Tier | 'auto', platform: NodeJS.Platform = process.platform): boolean =>
    tier === 'spawn' || (tier === 'auto' && platform !== 'linux');

  readonly #place = new PrivateFolder();
  readonly #workBase = join(this.#place.path, 'work');
  readonly #owned = new Set<Owned>();
  /** By the path of the interpreter. */
  readonly keepsWorkers = false;
  readonly #about = new Map<string, WorkerAbout>();
  #interpreter: Interpreter | undefined;
  #serial = 0;

  constructor(
    private readonly options: SpawnBackendOptions,
    private readonly logger: Logger,
  ) {
    mkdirSync(this.#workBase, { mode: 0o700 });
    // As root, runs have another user id, which must be able to reach its own work folder, but list no other.
    if (process.getuid?.() === 0)
      for (const path of [this.#place.path, this.#workBase]) chmodSync(path, 0o711);
  }

  async start(signal: AbortSignal): Promise<BackendState> {
    const { tier, allowUnsandboxed } = this.options;
    if (!allowUnsandboxed) throw tier === 'spawn' ? needsPermission(tier) : needsLinux(this.options);
    const interpreter = await findInterpreter(this.options.python, { signal });
    this.#interpreter = interpreter;
    const worker = await this.acquire({ ref: undefined }, signal).catch((error) => {
      throw new PungiError('SANDBOX_UNAVAILABLE', PungiError.from(error).message, {}, error);
    });
    worker.release();
    const { features, cgroup } = worker.about;
    this.logger.info('Ready to run Python', { tier: 'spawn', ...interpreter });
    return {
      interpreter,
      tier: 'spawn',
      features,
      bytecodeTag: bytecodeTagOf(worker.about),
      refused: [],
      cgroup,
    };
  }

  async acquire(spec: WorkerSpec, signal: AbortSignal): Promise<Worker> {
    const { poolSpec = PLAIN } = spec;
    if (poolSpec.allowedHosts.length > 0) throw noNetworkIn('spawn');
    const { python, environment, generation, isBare = false, lease } = this.#refOf(spec);
    const settings = {
      folder: join(this.#workBase, `${++this.#serial}`),
      data: resolveDataFolders(poolSpec.data, this.#place.path),
      memoryMb: this.options.memoryMb,
      uid: SANDBOX_UID,
      isBare,
      lease,
    };
    const worker = await SpawnedWorker.start(python, settings, this.logger, signal).catch((error: Error) => {
      throw whatIsGone({ python, lease }) ?? noInterpreter(error);
    });
    this.#about.set(python, worker.about);
    const owned = { worker, environment, generation };
    this.#owned.add(owned);
    void worker.gone.then(() => this.#owned.delete(owned));
    return worker;
  }

  warm(): void {}

  about(spec: WorkerSpec): WorkerAbout | undefined {
    return this.#about.get(this.#refOf(spec).python);
  }

  get environments(): string[] {
    return [...new Set([...this.#owned].map(({ environment }) => environment))];
  }

  figures(environment: string): WorkerFigures | undefined {
    const busy = [...this.#owned].filter((owned) => owned.environment === environment).length;
    if (busy === 0) return undefined;
    return { size: 0, parked: 0, parking: 0, busy, forkServers: 0, restarts: 0, preloads: [] };
  }

  async retire(environment: string, inForce: string | null): Promise<void> {
    const replaced = [...this.#owned].filter(
      (owned) => owned.environment === environment && owned.generation !== inForce,
    );
    await Promise.all(replaced.map(({ worker }) => worker.gone));
  }

  async close(): Promise<void> {
    const owned = [...this.#owned];
    for (const { worker } of owned) worker.release();
    await Promise.all(owned.map(({ worker }) => worker.gone));
    this.#place.remove();
  }

  #refOf({ ref }: WorkerSpec) {
    const { environment, systemPackages = false } = this.options;
    const { path: python } = this.#interpreter!;
    return ref ?? { environment, generation: '', python, isBare: !systemPackages, lease: undefined };
  }
}

const noInterpreter = (error: Error): PungiError =>
  error instanceof PungiError
    ? error
    : new PungiError('INTERNAL_ERROR', `No worker could be started: ${error.message}`);
