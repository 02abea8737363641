import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Lease } from './background/lease.js';
import { LiveRun } from './background/live-run.js';
import { isHandle, type RunStore, type StoredRun } from './background/run-store.js';
import { PungiError } from './base/errors.js';
import type { Logger } from './base/logger.js';
import type { BackgroundRun, BackgroundRunInfo } from './contract/background.js';
import { type Caller, ownerOf } from './contract/caller.js';
import { buildOutcome, type Outcome } from './contract/outcome.js';
import type { ArtifactContent, RunOptions, RunRequest } from './contract/run.js';
import { failure } from './contract/verdicts.js';
import { FairQueue } from './engine/fair-queue.js';
import type { Runs } from './runs.js';

export interface BackgroundLimits {
  /** Runs of all callers together that have not ended. */
  total: number;
  perCaller: number;
  /** Runs at the same time: the others leave their slots to calls that somebody waits for. */
  slots: number;
  slotsPerCaller: number;
}

interface Parts {
  runs: Pick<Runs, 'run'>;
  store: RunStore;
  limits: BackgroundLimits;
  logger: Logger;
}

/** What a cluster needs for background runs that every front end of it knows. */
export interface SharedBackground extends Omit<Parts, 'store'> {
  /** Bytes of outcomes, and of files, that are kept. */
  totalBytes: number;
  totalFileBytes: number;
  /** How long outcomes are kept, and runs wait at most. */
  keptMs: number;
  /** The longest time that a run may take. */
  longestMs: number;
  /** The profile that a request has here; undefined if it is refused here. */
  profileOf: (request: RunRequest) => string | undefined;
}

/** The longest time of one long poll: many clients give up on a call after a minute. */
export const MOST_WAIT_MS = 50_000;
/** How often the store is looked at for a run of another server, and by how many long polls at the same time. */
const LOOK_MS = 250;
const MOST_LOOKING = 20;
export const STOPPED = 'The run was cancelled: the server was stopped.';

/** What a caller sees of a run, and how it asked to be answered. */
export type FoundRun = BackgroundRun & { replyDetail?: 'short' | 'full' | undefined };

/** Runs that go on after the call that started them. Handles cannot be guessed, and are bound to their caller, not to a connection. */
export interface BackgroundRuns {
  /** Returns the handle once the run outlasts this process. Throws SERVER_BUSY if there are too many. */
  start(request: RunRequest, caller: Caller, replyDetail?: 'short' | 'full'): Promise<{ run: string }>;
  /** Waits until the run has ended or has new lines, at most so long. Throws RUN_NOT_FOUND. */
  get(run: string, caller: Caller, waitMs?: number, signal?: AbortSignal): Promise<FoundRun>;
  /** A run that has ended stays as it is. Throws RUN_NOT_FOUND. */
  cancel(run: string, caller: Caller): Promise<FoundRun>;
  /** The newest first. */
  list(caller: Caller): Promise<BackgroundRunInfo[]>;
  /** The files that a run of the caller left at another machine, by the id of its outcome. */
  filesOf?(runId: string, caller: Caller): Promise<ArtifactContent[] | undefined>;
  /** Cancels what is under way here, and resolves when all outcomes are stored. */
  close(): Promise<void>;
}

/**
 * Background runs of one machine. Each is on disk before its handle is returned, and its outcome before anybody sees it: after
 * a crash, the next server marks those without an outcome as lost.
 */
export class LocalBackgroundRuns implements BackgroundRuns {
  readonly #server = randomUUID();
  readonly #live = new Map<string, LiveRun>();
  readonly #queue: FairQueue;
  #ready: Promise<Lease> | undefined;
  #isClosed = false;
  #looking = 0;

  constructor(private readonly parts: Parts) {
    const { slots, slotsPerCaller } = parts.limits;
    this.#queue = new FairQueue(slots, Number.POSITIVE_INFINITY, slotsPerCaller);
  }

  async start(request: RunRequest, caller: Caller, replyDetail?: 'short' | 'full'): Promise<{ run: string }> {
    const owner = ownerOf(caller);
    this.#checkRoom(owner);
    const live = new LiveRun(owner);
    const { run, acceptedAt } = live;
    this.#live.set(run, live);
    const copied = copyOf(request);
    const accepted = this.#open().then(() =>
      this.parts.store.accept({
        run,
        owner,
        server: this.#server,
        acceptedAt,
        ...(replyDetail && { replyDetail }),
      }),
    );
    live.done = accepted.then(
      () => this.#execute(live, copied, caller),
      () => {},
    );
    try {
      await accepted;
      return { run };
    } catch (thrown) {
      this.#live.delete(run);
      throw notKept(thrown);
    }
  }

  async get(run: string, caller: Caller, waitMs = 0, signal?: AbortSignal): Promise<FoundRun> {
    const owner = ownerOf(caller);
    const until = performance.now() + Math.min(waitMs, MOST_WAIT_MS);
    const live = this.#live.get(run);
    if (live?.owner === owner) {
      await live.wait(until - performance.now(), signal);
      if (live.outcome === undefined) return live.describe();
      await live.done;
      // It could not be stored.
      if (this.#live.has(run)) return live.describe();
    }
    let found = await this.#find(run, owner);
    if (this.#looking < MOST_LOOKING) {
      this.#looking += 1;
      try {
        while (found.endedMs === null && performance.now() < until && !signal?.aborted) {
          await pause(LOOK_MS);
          found = await this.#find(run, owner);
        }
      } finally {
        this.#looking -= 1;
      }
    }
    return found.endedMs === null ? { ...infoOf(found), elsewhere: true } : this.#ended(found);
  }

  async cancel(run: string, caller: Caller): Promise<FoundRun> {
    const owner = ownerOf(caller);
    const live = this.#live.get(run);
    if (live?.owner === owner) {
      live.cancel();
      await live.done;
      if (this.#live.has(run)) return live.describe();
    }
    const found = await this.#find(run, owner);
    if (found.endedMs !== null) return this.#ended(found);
    throw new PungiError(
      'INVALID_INPUT',
      'The run is of another server that shares the folder of background runs: cancel it there.',
    );
  }

  async list(caller: Caller): Promise<BackgroundRunInfo[]> {
    const owner = ownerOf(caller);
    const { store } = this.parts;
    await this.#open();
    const own = async () => (await store.all()).filter((one) => one.owner === owner);
    const open = (await own()).filter(({ endedMs }) => endedMs === null);
    for (const server of new Set(open.map((one) => one.server))) await this.#markLost(server);
    return (await own()).reverse().map(infoOf);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const live = [...this.#live.values()];
    for (const one of live) {
      one.stopped = STOPPED;
      one.cancel();
    }
    await Promise.all(live.map(({ done }) => done));
    const lease = await this.#ready?.catch(() => undefined);
    await lease?.release().catch(() => {});
  }

  #checkRoom(owner: string): void {
    if (this.#isClosed) throw new PungiError('CANCELLED', 'Pungi is shutting down.');
    const { total, perCaller } = this.parts.limits;
    const own = [...this.#live.values()].filter((one) => one.owner === owner).length;
    if (own >= perCaller)
      throw tooMany(`You have ${own} background runs, which is the limit (MAX_BACKGROUND_PER_CALLER)`);
    if (this.#live.size >= total)
      throw tooMany(
        `The server has ${this.#live.size} background runs, which is the limit (MAX_BACKGROUND_RUNS)`,
      );
  }

  /** Never rejects. A run that is cancelled while it waits for its slot is recorded like any other. */
  async #execute(live: LiveRun, request: RunRequest, caller: Caller): Promise<void> {
    const { runs, store, logger } = this.parts;
    const { run, owner, signal } = live;
    const leave = await this.#queue.enter(owner, signal).catch(() => () => {});
    const onStart = () => {
      live.start();
      store.markStarted(run);
    };
    const options: RunOptions = {
      caller,
      signal,
      onLine: ({ text }) => live.add(text),
      onStep: (step) => live.note(step),
    };
    const ended = await runs.run(request, options, { background: { onStart } });
    leave();
    const outcome = live.stopped === undefined ? ended : stoppedOutcome(ended, live.stopped);
    try {
      await store.end(run, owner, outcome);
      live.end(outcome);
      this.#live.delete(run);
    } catch (thrown) {
      // It stays in memory, and counts as one that has not ended.
      const reason = PungiError.from(thrown).message;
      logger.error('The outcome of a background run could not be stored', { runId: outcome.runId, reason });
      live.end(outcome);
    }
  }

  async #find(run: string, owner: string): Promise<StoredRun> {
    if (!isHandle(run)) throw notFound();
    await this.#open();
    const { store } = this.parts;
    const found = await store.find(run);
    if (found?.owner !== owner) throw notFound();
    if (found.endedMs === null && (await this.#markLost(found.server)))
      return (await store.find(run)) ?? found;
    return found;
  }

  async #ended(found: StoredRun): Promise<FoundRun> {
    const { run, hasStarted, replyDetail } = found;
    const outcome = (await this.parts.store.outcomeOf(run)) ?? lostOutcome(hasStarted, DAMAGED);
    return { ...infoOf(found), endedAt: new Date(found.endedMs!).toISOString(), replyDetail, outcome };
  }

  #open(): Promise<Lease> {
    this.#ready ??= this.#begin().catch((thrown) => {
      throw notKept(thrown);
    });
    // What was missing may be there at the next attempt.
    this.#ready.catch(() => {
      this.#ready = undefined;
    });
    return this.#ready;
  }

  /** Shows that this server lives, and ends what killed ones left. */
  async #begin(): Promise<Lease> {
    const { store } = this.parts;
    await store.open();
    const lease = await Lease.take(this.#leaseOf(this.#server));
    for (const name of await readdir(store.folder)) {
      const server = /^server-([0-9a-f-]{36})\.lease$/.exec(name)?.[1];
      if (server !== undefined && server !== this.#server) await this.#markLost(server);
    }
    return lease!;
  }

  /** Marks the open runs of a server as lost, unless it lives. Returns whether it did. */
  async #markLost(server: string): Promise<boolean> {
    const { store } = this.parts;
    const lease = server === this.#server ? null : await Lease.take(this.#leaseOf(server));
    if (server !== this.#server && lease === null) return false;
    try {
      const open = (await store.all()).filter((one) => one.server === server && one.endedMs === null);
      for (const { run, owner, hasStarted } of open)
        if (!this.#live.has(run)) await store.end(run, owner, lostOutcome(hasStarted));
      return true;
    } finally {
      await lease?.release();
    }
  }

  #leaseOf = (server: string): string => join(this.parts.store.folder, `server-${server}.lease`);
}

const infoOf = ({ run, hasStarted, endedMs, acceptedAt }: StoredRun): BackgroundRunInfo => ({
  run,
  state: endedMs !== null ? 'ended' : hasStarted ? 'running' : 'waiting',
  acceptedAt,
});

export const DAMAGED = 'The outcome of the run was damaged where it was kept.';

export const lostOutcome = (started: boolean | null, why?: string, runId?: string): Outcome =>
  buildOutcome({ verdict: failure('lost', { started }, why), ...(runId && { runId }) });

export const stoppedOutcome = (outcome: Outcome, why: string): Outcome =>
  outcome.verdict.kind === 'cancelled' ? { ...outcome, verdict: failure('cancelled', {}, why) } : outcome;

/** The caller may change its object while the run waits. What cannot be copied is refused as a request later. */
function copyOf(request: RunRequest): RunRequest {
  try {
    return structuredClone(request);
  } catch {
    return request;
  }
}

export const notFound = () =>
  new PungiError(
    'RUN_NOT_FOUND',
    'There is no such background run: its outcome may have expired. list_runs lists yours.',
  );

export const tooMany = (why: string) =>
  new PungiError('SERVER_BUSY', `${why}: wait for one with get_run, or cancel one with cancel_run.`);

function notKept(thrown: unknown): PungiError {
  if (thrown instanceof PungiError) return thrown;
  const { message } = PungiError.from(thrown);
  return new PungiError(
    'INTERNAL_ERROR',
    `Background runs cannot be kept here: ${message}. Run it without background, or set BACKGROUND_DIR.`,
    {},
    thrown,
  );
}
