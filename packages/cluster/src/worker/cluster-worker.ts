import { randomBytes } from 'node:crypto';
import { availableParallelism, loadavg } from 'node:os';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Logger, PungiError, VERSION } from '@pungi/core/base';
import type { Backend, BackendState, WorkerAbout } from '@pungi/core/engine';
import type { LocalEnvironments, OnEnvironmentEvent } from '@pungi/core/environments';
import { leave } from '../connection.js';
import { deferred } from '../deferred.js';
import type { Beat } from '../protocol/beats.js';
import { type Needed, type Offer, type OfferAnswer, pack, packRefusal } from '../protocol/messages.js';
import type { Verifier } from '../protocol/signing.js';
import {
  ANY,
  type Labels,
  needTokens,
  type OperatorOrder,
  type Subjects,
  type WorkerKey,
} from '../protocol/subjects.js';
import { UNNAMED_MS } from '../protocol/timing.js';
import { SealedStore } from '../sealed-store.js';
import { SilenceWatch } from '../silence.js';
import { Claim, type ClaimParts } from './claim.js';
import { Claims } from './claims.js';
import { FrontWatch } from './front-watch.js';
import type { Generations } from './generations.js';
import { Heartbeats } from './heartbeats.js';
import { OfferTaker } from './offer-taker.js';
import { OperatorOrders } from './operator-orders.js';
import { Orders } from './orders.js';
import { PlacedRuns } from './placed-runs.js';
import { SignedInbox } from './signed-inbox.js';
import { Slots } from './slots.js';
import { Trail } from './trail.js';
import { WorkerEnvironments } from './worker-environments.js';

export interface ClusterWorkerParts {
  connection: NatsConnection;
  subjects: Subjects;
  verifier: Verifier;
  /** Of orders to the worker itself. */
  operators: Verifier;
  /** Of this machine. It is started and closed by the worker. */
  backend: Backend;
  /** Makes those of this machine. They are closed by the worker. */
  environments: (interpreter: BackendState['interpreter'], onEvent: OnEnvironmentEvent) => LocalEnvironments;
  logger: Logger;
}

export interface ClusterWorkerOptions {
  name: string;
  labels: Labels;
  /** Runs at the same time. */
  slots: number;
  /** Sessions at the same time. */
  maxSessions: number;
  /** The file of its trail. */
  trail: string;
  /** What the environments that it has built may take together. */
  diskMb: number;
}

/** A machine that runs code for the front ends of a cluster. It follows only what one of them has signed. */
export class ClusterWorker {
  readonly key: WorkerKey;
  /** Resolves when an operator has ordered the worker to drain. */
  readonly drainOrdered: Promise<void>;
  readonly #drainOrdered = deferred<void>();
  readonly #slots: Slots;
  readonly #claims: Claims;
  readonly #fronts: FrontWatch;
  /** Ends sessions that no front end names any more. */
  readonly #named: SilenceWatch;
  readonly #heartbeats: Heartbeats;
  readonly #inbox: SignedInbox;
  readonly #trail: Trail;
  readonly #inputs: SealedStore;
  readonly #closing = new AbortController();
  #taker: OfferTaker | undefined;
  #environments: WorkerEnvironments | undefined;
  #offerSubjects: readonly string[] = [];
  #machine: { state: BackendState; about: WorkerAbout } | undefined;
  #state: Beat['state'] = 'ready';
  #closed: Promise<void> | undefined;

  constructor(
    private readonly parts: ClusterWorkerParts,
    private readonly options: ClusterWorkerOptions,
  ) {
    this.drainOrdered = this.#drainOrdered.promise;
    this.key = { worker: options.name, incarnation: randomBytes(9).toString('base64url') };
    this.#trail = new Trail(options.trail, this.key.incarnation);
    this.#claims = new Claims(options.maxSessions);
    this.#slots = new Slots(options.slots, () => this.#taker?.balance());
    this.#inputs = new SealedStore(parts.connection, parts.subjects.cluster);
    this.#inbox = new SignedInbox(parts.connection, parts.verifier, parts.logger);
    this.#heartbeats = new Heartbeats({
      describe: () => this.#describe(),
      publish: (message) => parts.connection.publish(parts.subjects.beat(options.name), message),
    });
    this.#named = new SilenceWatch(UNNAMED_MS, () => parts.connection.flush(), {
      onLost: (claim) => this.#endUnnamed(claim),
    });
    this.#fronts = new FrontWatch({
      connection: parts.connection,
      subjects: parts.subjects,
      inbox: this.#inbox,
      onLost: (front) => this.#abandon(front),
      isUsed: (front) => this.#claims.has(front) || (this.#environments?.changes.has(front) ?? false),
    });
  }

  /** Resolves when it takes runs; rejects with what is missing on this machine. */
  async start(): Promise<void> {
    const { backend, connection, subjects, logger } = this.parts;
    const state = await backend.start(this.#closing.signal);
    this.#machine = { state, about: await this.#learn() };
    this.#environments = this.#openEnvironments(state);
    const { changes, generations } = this.#environments;
    await generations.load();
    this.#taker = this.#offerTaker(generations);
    const placed = this.#placedRuns(generations, this.#taker);
    const onHeld = ({ id }: Claim) => this.#named.knows(id) && this.#named.hear(id);
    const parts = { inbox: this.#inbox, claims: this.#claims, changes, placed, onHeld, reply: this.#reply };
    const orders = new Orders(parts);
    const operators = new SignedInbox(connection, this.parts.operators, logger);
    const operatorOrders = new OperatorOrders(operators, (order) => this.#operate(order));
    this.#inbox.subscribe(subjects.orders(this.key), (message) => {
      if (!operatorOrders.follow(message)) orders.follow(message);
    });
    // Front ends take no claim of a worker that they have not heard.
    this.#heartbeats.send();
    this.#taker.open();
    changes.open();
    // Without a connection, the next one begins with the subscriptions.
    await connection.flush().catch(() => {});
    this.#heartbeats.start();
    const { name: worker, labels, slots } = this.options;
    logger.info('The worker takes runs', { worker, slots, labels });
  }

  /** Takes no more, finishes what runs, ends sessions, and leaves the cluster. */
  async drain(): Promise<void> {
    this.#state = 'draining';
    this.#taker?.close();
    this.#heartbeats.send();
    this.parts.logger.info('The worker is drained', { runs: this.#slots.taken });
    await Promise.all([this.#claims.quiet(), this.#environments?.changes.close()]);
    await this.close();
  }

  /** A worker that is being drained stays so. */
  #operate(order: OperatorOrder): void {
    if (this.#state === 'draining' || this.#state === 'stopped') return;
    this.parts.logger.info('An operator gave an order', { order });
    if (order === 'drain') {
      this.#drainOrdered.resolve();
      return;
    }
    this.#state = order === 'cordon' ? 'cordoned' : 'ready';
    if (order === 'cordon') this.#taker?.close();
    else this.#taker?.open();
    this.#heartbeats.send();
  }

  /** Ends everything at once. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { backend, connection } = this.parts;
    this.#taker?.close();
    this.#heartbeats.stop();
    this.#fronts.close();
    this.#named.close();
    this.#claims.abandon('it was stopped');
    this.#environments?.changes.abandon();
    this.#closing.abort(new PungiError('CANCELLED', 'The worker is shutting down.'));
    await Promise.all([backend.close(), this.#environments?.close()]);
    this.#state = 'stopped';
    this.#heartbeats.send();
    await leave(connection);
    this.#trail.close();
  }

  /** The interpreter reports it with its first worker. */
  async #learn(): Promise<WorkerAbout> {
    const worker = await this.parts.backend.acquire({ ref: undefined }, this.#closing.signal);
    const { about } = worker;
    worker.release();
    return about;
  }

  #openEnvironments({ interpreter }: BackendState): WorkerEnvironments {
    const { connection, subjects, logger } = this.parts;
    return new WorkerEnvironments({
      connection,
      subjects,
      inbox: this.#inbox,
      key: this.key,
      reply: this.#reply,
      trail: this.#trail,
      logger,
      open: (onEvent) => this.parts.environments(interpreter, onEvent),
      diskMb: this.options.diskMb,
      onWarm: () => this.#warmHasChanged(),
      onTaken: (front) => this.#fronts.watch(front),
    });
  }

  /** It takes offers for any worker, and for those that have one of its generations. */
  #warmHasChanged(): void {
    const { subjects } = this.parts;
    const generations = [ANY, ...(this.#environments?.generations.all ?? [])];
    this.#offerSubjects = needTokens(this.options.labels).flatMap((need) =>
      [process.arch, ANY].flatMap((arch) =>
        generations.map((generation) => subjects.offer({ generation, arch, need })),
      ),
    );
    this.#taker?.balance();
    this.#heartbeats.send();
  }

  #offerTaker(generations: Generations): OfferTaker {
    const { backend, connection, subjects } = this.parts;
    return new OfferTaker({
      inbox: this.#inbox,
      backend,
      generations,
      slots: this.#slots,
      trail: this.#trail,
      closing: this.#closing.signal,
      subjects: () => this.#offerSubjects,
      answer: ({ front, token }, content) => this.#reply(front, token, pack(content)),
      key: this.key,
      hasRoomFor: this.#hasRoomFor,
      claim: (offer, worker, leave) => {
        const { id } = new Claim(this.#claimParts(), offer.front, worker, leave, offer);
        return this.#claimed(offer, id, worker.about);
      },
      onFree: () => connection.publish(subjects.free),
    });
  }

  #placedRuns(generations: Generations, taker: OfferTaker): PlacedRuns {
    return new PlacedRuns({
      backend: this.parts.backend,
      generations,
      slots: this.#slots,
      ageOf: (beat) => this.#heartbeats.ageOf(beat),
      isOpen: () => taker.isOpen,
      hasRoomFor: this.#hasRoomFor,
      claim: ({ claim, front }, placing, worker, leave) => {
        this.#fronts.watch(front);
        return new Claim(this.#claimParts(), front, worker, leave, placing, claim);
      },
      wasUsed: (claim) => this.#claims.wasUsed(claim),
      refuse: ({ front, token }, message) =>
        this.#reply(front, token, packRefusal({ reason: 'unplaced', message })),
    });
  }

  #claimed({ front }: Offer, claim: string, about: WorkerAbout): OfferAnswer {
    this.#fronts.watch(front);
    return { kind: 'claim', ...this.key, claim, tier: this.#machine!.state.tier, about };
  }

  readonly #hasRoomFor = ({ isForSession }: Needed): boolean =>
    !isForSession || this.#claims.hasRoomForSession;

  #claimParts(): ClaimParts {
    return {
      hasRoomForSession: () => this.#claims.hasRoomForSession,
      reply: this.#reply,
      slots: this.#slots,
      inputs: this.#inputs,
      trail: this.#trail,
      logger: this.parts.logger,
      onOpen: (claim) => {
        this.#claims.add(claim);
        if (!claim.isBusy) this.#noteIdle(claim);
      },
      onIdle: (claim) => this.#noteIdle(claim),
      onClose: (claim) => {
        this.#named.drop(claim.id);
        this.#claims.remove(claim);
      },
    };
  }

  readonly #reply = (front: string, token: string, message: Buffer): void => {
    const { connection, subjects } = this.parts;
    if (!connection.isClosed()) connection.publish(subjects.reply(front, token), message);
  };

  /** A session waits for its next run. */
  #noteIdle({ id }: Claim): void {
    this.#named.hear(id);
    if (this.#state === 'draining') this.#claims.endIdle();
  }

  #endUnnamed(claim: string): void {
    if (this.#claims.endUnnamed(claim)) return;
    this.#named.drop(claim);
    this.#named.hear(claim);
  }

  #abandon(front: string): void {
    this.parts.logger.info('A front end is gone', { front });
    this.#claims.abandon('it had not heard this server for a time, and ended the run', front);
    this.#environments?.changes.abandon(front);
  }

  /** Looks whether offers can be taken now, and describes the worker; undefined before it has started, and when it has left. */
  #describe(): Omit<Beat, 'n' | 'v'> | undefined {
    if (this.#machine === undefined || this.parts.connection.isClosed()) return undefined;
    this.#taker?.balance();
    const { labels, slots, maxSessions } = this.options;
    const { state, about } = this.#machine;
    return {
      ...this.key,
      state: this.#state,
      version: VERSION,
      arch: process.arch,
      labels,
      cores: availableParallelism(),
      load: Math.round(loadavg()[0]! * 100) / 100,
      slots,
      busy: this.#slots.taken,
      isOpen: this.#taker?.isOpen ?? false,
      queue: this.#slots.waiting,
      sessions: this.#claims.sessions,
      maxSessions,
      warm: this.parts.backend.environments,
      tier: state.tier,
      about,
      interpreter: state.interpreter,
      generations: this.#environments?.generations.all ?? [],
    };
  }
}
