import { randomBytes } from 'node:crypto';
import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Tier } from '../contract/outcome.js';
import { ForkServer, type ForkServerOptions } from '../runtime/fork-server.js';
import type { Listener } from '../runtime/listener.js';
import type { Supervisor } from '../runtime/supervisor.js';
import { resolveDataFolders } from './data-folders.js';
import type { EnvironmentRef, PoolSpec } from './environment-ref.js';
import { LearnedPreloads } from './learned-preloads.js';
import { Pool } from './pool.js';

export interface PoolOpenerOptions {
  poolSize: number;
  maxActive: number;
  /** Workers that sessions keep while nothing runs in them. */
  maxKept?: number;
  preload: string[];
  preloadTimeoutMs: number;
  memoryMb: number;
  diskMb: number;
  /** Limits for workers of runs with raised limits. */
  ceilings?: { memoryMb: number; diskMb: number };
  /** Whether runs in the plain interpreter see its packages. */
  systemPackages?: boolean;
  idleTimeoutMs: number;
  /** The environment name of the plain interpreter. */
  environment: string;
  /**
   * Whether packages are, or are about to be, installed into it: the plain interpreter then may lack preloaded
   * modules.
   */
  isFilled?: () => boolean;
  cgroups?: 'auto' | 'off' | undefined;
  /** The memory of all runs together, if it was set. */
  totalMemoryMb?: number | undefined;
  /** Whether fork servers preload what runs have imported before. */
  learnsPreloads?: boolean;
  /** Opens a network for the hosts of a profile, for one pool, which closes it. */
  network?: (allowedHosts: readonly string[]) => Promise<Network>;
}

/** A proxy's unix socket, through which runs reach only the allowed hosts. */
export interface Network {
  socket: string;
  /**
   * Admits the connections of a worker for a run. Returns a function that ends the admission and cuts the
   * connections.
   */
  admit(caller: string, run: string): () => void;
  close(): Promise<void>;
}

/** A fork server and its first supervisor, which proved that the tier works. */
export interface Entered {
  forkServer: ForkServer;
  supervisor: Supervisor;
}

export const noNetworkIn = (tier: Tier): PungiError =>
  new PungiError(
    'DENIED',
    `A profile with network needs the namespace tier, and runs are in the ${tier} tier here; see pungi doctor.`,
  );

/** Opens pools for an environment and the spec of a profile. */
export class PoolOpener {
  /** null: nothing is learned. */
  readonly learned: LearnedPreloads | null;
  #networks = new WeakMap<Pool, Network>();
  readonly #cgroups: ForkServerOptions['cgroups'];

  constructor(
    private readonly options: PoolOpenerOptions,
    private readonly listener: Listener,
    private readonly logger: Logger,
  ) {
    this.learned = options.learnsPreloads ? new LearnedPreloads() : null;
    const name = `pungi-${process.pid}-${randomBytes(4).toString('hex')}`;
    const totalMb = options.totalMemoryMb ?? null;
    this.#cgroups = options.cgroups === 'off' ? null : { name, server: process.pid, totalMb };
  }

  /** Throws DENIED if the spec cannot be met. */
  open(tier: Tier, ref: EnvironmentRef, asked: PoolSpec, running?: Entered): Pool {
    const { poolSize, idleTimeoutMs } = this.options;
    const size = asked.isRaised ? 1 : poolSize;
    const poolSpec = { ...asked, data: resolveDataFolders(asked.data, this.listener.folder) };
    let network: Network | null = null;
    const opening = this.#openNetwork(tier, poolSpec.allowedHosts)?.then((opened) => (network = opened));
    const start = () => this.startForkServer(tier, ref, poolSpec, network);
    const giveBack = async () => {
      await opening?.catch(() => {}); // reported to callers that wait for a worker
      await network?.close();
    };
    const supply = opening && { supply: { ready: opening, giveBack } };
    const pool = new Pool({ size, idleTimeoutMs, start, logger: this.logger, ...supply }, running);
    opening?.then((opened) => this.#networks.set(pool, opened)).catch(() => {});
    return pool;
  }

  networkOf(pool: Pool): Network | undefined {
    return this.#networks.get(pool);
  }

  startForkServer(
    tier: Tier,
    { python, roots, environment, isBare = false, lease }: Omit<EnvironmentRef, 'generation'>,
    { preload, data, isRaised = false }: PoolSpec,
    network: Network | null,
  ): ForkServer {
    const { preloadTimeoutMs, poolSize, maxActive, maxKept = 0, ceilings = this.options } = this.options;
    const { memoryMb, diskMb } = isRaised ? ceilings : this.options;
    const asked = [...new Set([...this.options.preload, ...preload])];
    const learned = (this.learned?.of({ python }) ?? []).filter((name) => !asked.includes(name));
    const options = {
      python,
      tier,
      preload: [...asked, ...learned],
      surelyUsed: preload,
      learned,
      // One list serves all environments, and a profile may be used in environments without its packages.
      preloadIsOptional:
        environment !== this.options.environment || preload.length > 0 || (isBare && this.#isFilled()),
      preloadTimeoutMs,
      memoryMb,
      mostSupervisors: poolSize + maxActive + maxKept,
      diskMb,
      roots,
      isBare,
      data,
      network: network && { socket: network.socket },
      cgroups: this.#cgroups,
      lease,
    };
    return new ForkServer(options, this.listener, this.logger);
  }

  #isFilled(): boolean {
    return this.options.isFilled?.() ?? false;
  }

  /** A run gets exactly the network of its profile, or is refused. */
  #openNetwork(tier: Tier, allowedHosts: readonly string[]): Promise<Network> | undefined {
    if (allowedHosts.length === 0) return undefined;
    const { network } = this.options;
    if (tier !== 'namespace') throw noNetworkIn(tier);
    if (!network) throw new PungiError('DENIED', 'This server does not allow runs to reach the network.');
    return network(allowedHosts);
  }
}
