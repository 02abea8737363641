import type { RemoteBackend } from '@pungi/core';
import type { SharedBackground } from '@pungi/core/background';
import type { Logger } from '@pungi/core/base';
import { PungiError } from '@pungi/core/base';
import type { ClusterHealth, ClusterWorkerHealth } from '@pungi/core/contract';
import type {
  BackendState,
  QueueFigures,
  Worker,
  WorkerAbout,
  WorkerFigures,
  WorkerSpec,
} from '@pungi/core/engine';
import { bytecodeTagOf } from '@pungi/core/engine';
import type { EnvironmentsOptions } from '@pungi/core/environments';
import { ClusterBackground } from '../background/cluster-background.js';
import { openBucket } from '../bucket.js';
import { type ClusterAddress, openConnection } from '../connection.js';
import {
  frontVerifierOf,
  memberOf,
  natsCredentials,
  operatorsOf,
  ownerOf,
  signerOf,
} from '../credentials.js';
import type { Beat } from '../protocol/beats.js';
import type { Verifier } from '../protocol/signing.js';
import { subjectsOf } from '../protocol/subjects.js';
import { AuditLink } from './audit-link.js';
import { ClusterEnvironments } from './cluster-environments.js';
import { Entries } from './entries.js';
import { Fronts } from './fronts.js';
import { FrontLink } from './link.js';
import { Offers } from './offers.js';
import type { AuditParts } from './own-trail.js';
import { RemoteWorker } from './remote-worker.js';
import { ClusterProfiles } from './shared-profiles.js';

export interface ClusterBackendOptions extends ClusterAddress {
  /** The folder with the credentials of the front end. */
  creds: string;
}

/** Workers on other machines, and the environments that they share. */
export class ClusterBackend implements RemoteBackend {
  readonly keepsWorkers = true;
  readonly #offers: Offers;

  #environments: ClusterEnvironments | undefined;
  #audit: AuditLink | undefined;
  #fronts: Fronts | undefined;
  #background: ClusterBackground | undefined;
  #hasStarted = false;
  #queue: QueueFigures = { active: 0, waiting: 0, capacity: 0 };

  private constructor(
    private readonly link: FrontLink,
    private readonly name: string,
    private readonly entries: Entries,
    readonly profiles: ClusterProfiles,
    private readonly auditParts: AuditParts,
    private readonly verifier: Verifier,
    private readonly logger: Logger,
  ) {
    this.#offers = new Offers(link);
    link.queue = () => ({
      active: Math.max(0, this.#queue.active - this.#unclaimed),
      waiting: this.#waiting,
      capacity: this.#queue.capacity,
    });
  }

  /** Throws CONFIGURATION_ERROR if NATS cannot be reached or the credentials cannot be used. */
  static async connect(options: ClusterBackendOptions, logger: Logger): Promise<ClusterBackend> {
    const { creds } = options;
    const signer = signerOf(creds);
    const operators = operatorsOf(creds);
    const verifier = frontVerifierOf(creds, signer);
    const connection = await openConnection(options, 'pungi front end', natsCredentials(creds), logger);
    try {
      const entries = await Entries.open(await openBucket(connection, options.name), logger);
      const subjects = subjectsOf(options.name);
      const profiles = await ClusterProfiles.open({
        ...{ connection, cluster: options.name, logger },
        verifier: ownerOf(creds),
      });
      const link = new FrontLink({ connection, subjects, signer, logger });
      const name = memberOf(creds)?.name ?? 'front';
      const audit = { connection, subjects, signer, verifier: operators, name, logger };
      return new ClusterBackend(link, options.name, entries, profiles, audit, verifier, logger);
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  environmentsWith(options: EnvironmentsOptions): ClusterEnvironments {
    const { link, entries, logger } = this;
    this.#environments = new ClusterEnvironments({ link, entries, logger }, options);
    return this.#environments;
  }

  auditIn(folder: string | null, closed: Promise<void>): void {
    this.#audit = new AuditLink(this.auditParts, folder, closed);
  }

  backgroundWith(shared: SharedBackground): ClusterBackground {
    const { name: cluster, verifier } = this;
    const { connection, subjects, front, signer } = this.link;
    const fronts = new Fronts(connection, subjects);
    this.#fronts = fronts;
    const parts = { connection, cluster, front, fronts, signer, verifier };
    this.#background = new ClusterBackground(parts, shared);
    return this.#background;
  }

  /** Resolves once there is a worker. */
  start(signal: AbortSignal): Promise<BackendState> {
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      void this.link.workers.first().then((beat) => {
        this.#hasStarted = true;
        resolve(stateOf(beat));
      });
    });
  }

  async acquire(spec: WorkerSpec, signal: AbortSignal): Promise<Worker> {
    refuseUnsupported(spec);
    const claimAnother = (stop: AbortSignal) => this.#offers.claim(spec, stop);
    return new RemoteWorker(this.link, await this.#offers.find(spec, signal), claimAnother);
  }

  observe(queue: QueueFigures): void {
    this.#queue = queue;
  }

  cluster(): ClusterHealth {
    const lost = this.link.workers.lost.map(({ beat }) => ({ ...beat, state: 'silent' as const }));
    return {
      name: this.name,
      waiting: this.#waiting,
      queued: this.#background?.queued ?? 0,
      workers: [...this.workers, ...lost].map(healthOf),
    };
  }

  /** Runs that wait for their turn, and those that wait for a worker. */
  get #waiting(): number {
    return this.#queue.waiting + this.#unclaimed;
  }

  /** Before there was a worker, runs that have their turn are not offered yet. */
  get #unclaimed(): number {
    return this.#hasStarted ? this.#offers.waiting : this.#queue.active;
  }

  /** Workers keep themselves warm. */
  warm(): void {}

  about(): WorkerAbout | undefined {
    return this.workers[0]?.about;
  }

  readonly environments: string[] = [];

  figures(): WorkerFigures | undefined {
    return undefined;
  }

  async retire(): Promise<void> {}

  /** The workers that are heard. */
  get workers(): readonly Beat[] {
    return this.link.workers.all;
  }

  async close(): Promise<void> {
    this.#offers.close();
    await this.#environments?.close();
    this.entries.close();
    this.profiles.close();
    await this.#audit?.close();
    this.#fronts?.close();
    await this.link.close();
  }
}

function stateOf({ interpreter, tier, about }: Beat): BackendState {
  const { features, cgroup } = about;
  return { interpreter, tier, features, bytecodeTag: bytecodeTagOf(about), refused: [], cgroup };
}

function healthOf(beat: Omit<Beat, 'state'> & Pick<ClusterWorkerHealth, 'state'>): ClusterWorkerHealth {
  const {
    worker: name,
    state,
    version,
    arch,
    labels,
    cores,
    load,
    slots,
    busy,
    queue,
    sessions,
    warm,
  } = beat;
  return { name, state, version, arch, labels, cores, load, slots, busy, queue, sessions, warm };
}

function refuseUnsupported({ poolSpec }: WorkerSpec): void {
  if ((poolSpec?.data ?? []).length > 0)
    throw new PungiError('DENIED', 'Folders with data or scripts cannot be used in a cluster yet.');
}
