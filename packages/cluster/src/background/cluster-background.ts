import { setTimeout as pause } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  type BackgroundRuns,
  type FoundRun,
  isHandle,
  MOST_WAIT_MS,
  newHandle,
  notFound,
  type SharedBackground,
  tooMany,
} from '@pungi/core/background';
import { PungiError } from '@pungi/core/base';
import {
  type ArtifactContent,
  type BackgroundRunInfo,
  type Caller,
  ownerOf,
  type RunRequest,
} from '@pungi/core/contract';
import { parseRequest } from '@pungi/core/gate';
import type { Fronts } from '../front/fronts.js';
import { keyOfRun, type QueuedRun, type RunState } from '../protocol/background.js';
import type { Signer, Verifier } from '../protocol/signing.js';
import { PROTOCOL } from '../protocol/version.js';
import { KeptOutcomes, MOST_INLINE_BYTES } from './kept-outcomes.js';
import { Ledger, newAttempt, stateOf } from './ledger.js';
import { RunFiles } from './run-files.js';
import { RunQueue } from './run-queue.js';
import { isOpen, RunStates, type SeenState } from './run-states.js';
import { cancelledOutcome, RunTaker } from './run-taker.js';
import { openStores } from './stores.js';

interface Parts {
  connection: NatsConnection;
  cluster: string;
  /** The name of this front end. */
  front: string;
  fronts: Fronts;
  signer: Signer;
  verifier: Verifier;
}

interface Opened {
  states: RunStates;
  kept: KeptOutcomes;
  queue: RunQueue;
  ledger: Ledger;
  taker: RunTaker;
}

/** A change that the watch did not bring is noticed after this. */
const LOOK_MS = 2000;
/** Long polls at the same time; further ones are answered at once. */
const MOST_WAITING = 500;
/** The front end that runs it ends a cancelled run within this time. */
const CANCEL_MS = 20_000;
const OPEN_AGAIN_MS = 1000;

/**
 * Background runs of a cluster: any front end accepts them, runs them, shows them and cancels them. A handle is returned once the run
 * is in the queue. Whoever takes it from there writes to the state of the run what it is about to do, so that no run starts twice.
 */
export class ClusterBackground implements BackgroundRuns {
  #opening: Promise<Opened> | undefined;
  #isClosed = false;
  #states: RunStates | undefined;
  #waiting = 0;

  constructor(
    private readonly parts: Parts,
    private readonly shared: SharedBackground,
  ) {
    void this.#openSoon();
  }

  /** How many no front end has taken yet. */
  get queued(): number {
    return this.#states?.all().filter(({ state }) => state.phase === 'queued').length ?? 0;
  }

  async start(request: RunRequest, caller: Caller, replyDetail?: 'short' | 'full'): Promise<{ run: string }> {
    // JSON would silently change what is not valid.
    const parsed = parseRequest(request);
    // Other front ends may have another default, and allow others: what this one does not allow, it refuses itself.
    const profile = this.shared.profileOf(parsed);
    const text = JSON.stringify(profile === undefined ? parsed : { ...parsed, profile });
    const { states, ledger, taker, queue } = await this.#open();
    const owner = ownerOf(caller);
    await states.sync();
    this.#checkRoom(states, owner);
    const run = newHandle();
    const acceptedAt = new Date().toISOString();
    const { front } = this.parts;
    const isHere = profile === undefined || staysHere(request);
    const queued = await this.#queuedOf(text, { run, acceptedAt, caller, retry: request.retry === true });
    const taken = isHere ? { phase: 'taken' as const, attempt: newAttempt() } : { phase: 'queued' as const };
    const state: RunState = { run, acceptedAt, replyDetail, front, attempts: isHere ? 1 : 0, ...taken };
    const key = keyOfRun(owner, run);
    const seen = await ledger.accept(key, owner, state).catch((error: unknown) => {
      // It may have been written, and nobody would run it.
      void states
        .get(key)
        .then((written) => written && states.remove(written))
        .catch(() => {});
      throw error;
    });
    if (seen === undefined) throw noRoom();
    if (isHere) taker.runHere(queued, seen, JSON.parse(text) as RunRequest);
    else
      try {
        await queue.add(queued);
      } catch (error) {
        // A run without a state is not run, whether it is in the queue or not.
        await states.remove(seen).catch(() => {});
        throw notQueued(error as Error);
      }
    return { run };
  }

  async get(run: string, caller: Caller, waitMs = 0, signal?: AbortSignal): Promise<FoundRun> {
    const owner = ownerOf(caller);
    const until = performance.now() + Math.min(waitMs, MOST_WAIT_MS);
    const { states, ledger, taker } = await this.#open();
    for (;;) {
      const live = taker.find(run, owner);
      if (live) {
        await live.wait(until - performance.now(), signal);
        if (live.outcome === undefined) return live.describe();
        await live.done;
      }
      const seen = await this.#find(run, owner);
      const leftMs = until - performance.now();
      const isPointless = leftMs <= 0 || signal?.aborted || this.#isClosed || this.#waiting >= MOST_WAITING;
      if (!isOpen(seen) || isPointless) return ledger.describe(seen);
      this.#waiting += 1;
      await states.changeOf(seen.key, Math.min(leftMs, LOOK_MS), signal);
      this.#waiting -= 1;
    }
  }

  async cancel(run: string, caller: Caller): Promise<FoundRun> {
    const owner = ownerOf(caller);
    const { states, ledger, taker } = await this.#open();
    const until = performance.now() + CANCEL_MS;
    for (;;) {
      const live = taker.find(run, owner);
      live?.cancel();
      await live?.done;
      const seen = await this.#find(run, owner);
      if (!isOpen(seen) || performance.now() > until) return ledger.describe(seen);
      if (seen.state.phase === 'queued') await ledger.end(seen, cancelledOutcome());
      else if (!seen.state.isCancelled) await states.change(seen, { isCancelled: true });
      else await states.changeOf(seen.key, LOOK_MS);
    }
  }

  async list(caller: Caller): Promise<BackgroundRunInfo[]> {
    const { states, ledger } = await this.#open();
    await states.sync();
    const own = await Promise.all(states.all(ownerOf(caller)).map((seen) => ledger.settle(seen)));
    return own.reverse().map(({ state }) => ({
      run: state.run,
      state: stateOf(state),
      acceptedAt: state.acceptedAt,
    }));
  }

  async filesOf(runId: string, caller: Caller): Promise<ArtifactContent[] | undefined> {
    return (await this.#open()).kept.readFiles(ownerOf(caller), runId);
  }

  /** What waits is left to other front ends. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.taker.close();
    opened?.states.close();
  }

  async #find(run: string, owner: string): Promise<SeenState> {
    if (!isHandle(run)) throw notFound();
    const { states, ledger } = await this.#open();
    const seen = await states.get(keyOfRun(owner, run));
    if (seen === undefined) throw notFound();
    return ledger.settle(seen);
  }

  #checkRoom(states: RunStates, owner: string): void {
    if (this.#isClosed) throw new PungiError('CANCELLED', 'Pungi is shutting down.');
    const { total, perCaller } = this.shared.limits;
    const open = (of?: string) => states.all(of).filter(isOpen).length;
    if (open(owner) >= perCaller)
      throw tooMany(
        `You have ${open(owner)} background runs, which is the limit (MAX_BACKGROUND_PER_CALLER)`,
      );
    if (open() >= total * Math.max(1, this.parts.fronts.count))
      throw tooMany(
        `The cluster has ${open()} background runs, which is the limit (MAX_BACKGROUND_RUNS of each front end)`,
      );
  }

  async #queuedOf(text: string, about: Omit<QueuedRun, 'v' | 'request'>): Promise<QueuedRun> {
    const { kept } = await this.#open();
    const bytes = Buffer.from(text);
    if (bytes.length <= MOST_INLINE_BYTES) return { v: PROTOCOL, ...about, request: text };
    return { v: PROTOCOL, ...about, storedRequest: await kept.put([bytes]) };
  }

  /** A front end takes runs that others have accepted, whether it has accepted some itself or not. */
  async #openSoon(): Promise<void> {
    while (!this.#isClosed)
      try {
        await this.#open();
        return;
      } catch (error) {
        this.shared.logger.error(PungiError.from(error).message);
        await pause(OPEN_AGAIN_MS, undefined, { ref: false });
      }
  }

  #open(): Promise<Opened> {
    this.#opening ??= this.#openStores();
    this.#opening.catch(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #openStores(): Promise<Opened> {
    const { connection, cluster, fronts, front, signer, verifier } = this.parts;
    const { shared } = this;
    const { states: bucket, objects } = await openStores(connection, cluster, shared);
    const states = await RunStates.open(bucket, shared.keptMs + shared.longestMs);
    this.#states = states;
    const kept = new KeptOutcomes(bucket, objects);
    const queue = new RunQueue(connection, cluster, { signer, verifier });
    const ledger = new Ledger({ states, kept, queue, fronts });
    const files = new RunFiles(states, kept, shared.totalFileBytes);
    const taker = new RunTaker({ shared, states, kept, files, queue, ledger, fronts, front });
    return { states, kept, queue, ledger, taker };
  }
}

/** What it needs is at this front end: a session, a file, an upload, files of an earlier run. */
const staysHere = ({ session, file, filesOf, files }: RunRequest): boolean =>
  [session, file, filesOf].some((one) => one !== undefined) ||
  (files ?? []).some(({ upload }) => upload !== undefined);

const noRoom = () =>
  new PungiError(
    'SERVER_BUSY',
    'There is no room for the outcome of another background run (BACKGROUND_MB): run it without background.',
  );

const notQueued = (error: Error) =>
  new PungiError(
    'SERVER_BUSY',
    `The run could not be queued (${error.message}): try again, or run it without background.`,
    {},
    error,
  );
