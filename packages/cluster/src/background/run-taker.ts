import { setTimeout as pause } from 'node:timers/promises';
import type { JsMsg } from '@nats-io/jetstream';
import { LiveRun, lostOutcome, type SharedBackground, STOPPED, stoppedOutcome } from '@pungi/core/background';
import { PungiError } from '@pungi/core/base';
import {
  type ArtifactContent,
  buildOutcome,
  failure,
  type Outcome,
  ownerOf,
  type RunRequest,
} from '@pungi/core/contract';
import { FairQueue } from '@pungi/core/engine';
import { isUnanswered } from '../connection.js';
import type { Fronts } from '../front/fronts.js';
import { keyOfRun, type QueuedRun } from '../protocol/background.js';
import type { KeptOutcomes } from './kept-outcomes.js';
import { endedWith, type Ledger, newAttempt } from './ledger.js';
import { RunClaim } from './run-claim.js';
import type { RunFiles } from './run-files.js';
import type { QueueMessage, RunQueue } from './run-queue.js';
import { isOpen, type RunStates, type SeenState } from './run-states.js';

interface Parts {
  shared: SharedBackground;
  states: RunStates;
  kept: KeptOutcomes;
  files: RunFiles;
  queue: RunQueue;
  ledger: Ledger;
  fronts: Fronts;
  /** The name of this front end. */
  front: string;
}

interface LeftFiles {
  runId: string;
  files: readonly ArtifactContent[];
}

interface UnderWay {
  queued: QueuedRun;
  live: LiveRun;
  claim: RunClaim;
  /** A run that stays at its front end is in no queue. */
  message: QueueMessage | undefined;
  /** Remarks for its outcome. */
  notes: string[];
}

/** How often the queue hears that a run goes on. */
const WORKING_MS = 1000;
/** A run that cannot be taken now is offered again after this. */
const LATER_MS = 500;
const UNKNOWN_MS = 5000;
const AGAIN_MS = 500;
/** How often a run is begun, if its front ends are lost and it may be repeated. */
const MOST_ATTEMPTS = 3;
/** On closing, NATS is waited for so long. */
const CLOSE_MS = 5000;

/** Takes background runs from the queue of the cluster whenever this front end has a turn for one, and runs them like any other. */
export class RunTaker {
  readonly #underWay = new Map<string, UnderWay>();
  readonly #turns: FairQueue;
  readonly #stopping = new AbortController();
  readonly #closing = new AbortController();
  readonly #working: NodeJS.Timeout;

  constructor(private readonly parts: Parts) {
    const { slots, slotsPerCaller } = parts.shared.limits;
    this.#turns = new FairQueue(slots, Number.POSITIVE_INFINITY, slotsPerCaller);
    this.#working = setInterval(() => this.#keepAlive(), WORKING_MS);
    parts.states.onChange = (seen) => this.#underWay.get(seen.state.run)?.claim.note(seen);
    void this.#consume();
  }

  /** A run of the owner that this front end has under way. */
  find(run: string, owner: string): LiveRun | undefined {
    const live = this.#underWay.get(run)?.live;
    return live?.owner === owner ? live : undefined;
  }

  /** Runs what only this front end can run. */
  runHere(queued: QueuedRun, seen: SeenState, request: RunRequest): void {
    this.#begin({ queued, seen, message: undefined, notes: [] }, async () => request);
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    const late = setTimeout(() => this.#closing.abort(), CLOSE_MS);
    const all = [...this.#underWay.values()].map(({ live }) => live);
    for (const live of all) {
      live.stopped = STOPPED;
      live.cancel();
    }
    await Promise.all(all.map(({ done }) => done));
    clearTimeout(late);
    this.#closing.abort();
    clearInterval(this.#working);
  }

  async #consume(): Promise<void> {
    const { queue, shared } = this.parts;
    while (!this.#stopping.signal.aborted)
      try {
        if (this.#turns.freeSlots <= 0) {
          await Promise.race([...this.#underWay.values()].map(({ live }) => live.done));
          continue;
        }
        const message = await queue.next();
        if (message === null) continue;
        if (this.#stopping.signal.aborted) message.nak();
        else await this.#take(message);
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        shared.logger.debug('The queue of background runs does not answer', { reason: `${error}` });
        await pause(AGAIN_MS);
      }
  }

  /** Decides by what is known of the run; nothing is decided by the number of deliveries. */
  async #take(message: JsMsg): Promise<void> {
    const { queue, states, fronts, ledger, front } = this.parts;
    const queued = queue.read(message);
    if (queued === undefined) return this.#refuse(message);
    const own = this.#underWay.get(queued.run);
    if (own !== undefined) {
      own.message = message;
      return;
    }
    const seen = await states.get(keyOfRun(ownerOf(queued.caller), queued.run));
    // Nobody was given the handle of a run without a state.
    if (seen === undefined || !isOpen(seen)) return message.ack();
    const { phase, attempts, isCancelled } = seen.state;
    if (phase !== 'queued' && seen.state.front !== front && !fronts.isGone(seen.state.front))
      return message.nak(LATER_MS);
    const mayHaveStarted = phase === 'starting' || phase === 'started';
    const isRepeated = queued.retry && !isCancelled && attempts < MOST_ATTEMPTS;
    if (mayHaveStarted && !isRepeated) return this.#end(message, seen, ledger.lost(seen));
    if (isCancelled) return this.#end(message, seen, cancelledOutcome());
    if (!this.#hasTurn(queued)) return message.nak(LATER_MS);
    const taken = await states.change(seen, {
      ...{ phase: 'taken', front, attempt: newAttempt(), attempts: attempts + 1 },
    });
    if (taken === undefined) return message.nak(LATER_MS);
    const notes = mayHaveStarted ? ['It was run again: the front end that ran it was lost.'] : [];
    this.#begin({ queued, seen: taken, message, notes }, () => this.#requestOf(queued));
  }

  async #end(message: QueueMessage, seen: SeenState, outcome: Outcome): Promise<void> {
    const ended = await this.parts.ledger.end(seen, outcome);
    if (ended) message.ack();
    else message.nak(LATER_MS);
  }

  /** Another front end may know who has signed it. */
  #refuse(message: JsMsg): void {
    const { logger } = this.parts.shared;
    logger.error('A background run in the queue is signed by no front end that this one knows', {
      subject: message.subject,
    });
    message.nak(UNKNOWN_MS);
  }

  #hasTurn({ caller }: QueuedRun): boolean {
    const { slotsPerCaller } = this.parts.shared.limits;
    const owner = ownerOf(caller);
    const own = [...this.#underWay.values()].filter(({ live }) => live.owner === owner);
    // A run that stays here may have taken the turn since the queue was asked.
    return own.length < slotsPerCaller && this.#turns.freeSlots > 0;
  }

  #begin(
    { queued, seen, message, notes }: Pick<UnderWay, 'queued' | 'message' | 'notes'> & { seen: SeenState },
    load: () => Promise<RunRequest>,
  ): void {
    const { states, ledger } = this.parts;
    const live = new LiveRun(ownerOf(queued.caller), queued.run, queued.acceptedAt);
    const claim = new RunClaim(states, seen, this.#closing.signal, {
      onStop: () => live.cancel(),
      withRoom: (write) => ledger.withRoom(write),
    });
    const one = { queued, live, claim, message, notes };
    this.#underWay.set(queued.run, one);
    live.done = this.#perform(one, load);
  }

  /** Never rejects. */
  async #perform(one: UnderWay, load: () => Promise<RunRequest>): Promise<void> {
    const { live, claim } = one;
    let outcome: Outcome | undefined;
    try {
      outcome = await this.#run(one, load);
      if (!claim.isLost) await this.#record(one, outcome);
    } catch (error) {
      const reason = PungiError.from(error).message;
      // What is not ended here is delivered again, and settled by whoever gets it.
      if (!claim.isLost) this.parts.shared.logger.error('A background run could not be ended', { reason });
    } finally {
      this.#underWay.delete(live.run);
      live.end(outcome ?? cancelledOutcome());
    }
  }

  async #run({ queued, live, claim, notes }: UnderWay, load: () => Promise<RunRequest>): Promise<Outcome> {
    const { shared } = this.parts;
    const leave = await this.#turns.enter(live.owner, live.signal).catch(() => () => {});
    try {
      let left: LeftFiles | undefined;
      const request = await load().catch(undefinedIfGone);
      if (request === undefined) return lostOutcome(false, GONE);
      const ended = await shared.runs.run(
        request,
        {
          caller: queued.caller,
          signal: live.signal,
          onLine: ({ text }) => live.add(text),
          onStep: (step) => live.note(step),
          onFiles: (runId, files) => {
            left = { runId, files };
          },
        },
        {
          background: {
            beforeStart: (runId) => claim.change({ phase: 'starting', runId }),
            onStart: () => live.start(),
            onConfirmed: () => void claim.change({ phase: 'started' }).catch(() => {}),
          },
        },
      );
      const outcome = live.stopped === undefined ? ended : stoppedOutcome(ended, live.stopped);
      const isKept = left?.runId === outcome.runId && outcome.artifacts !== undefined && !claim.isLost;
      const problems = isKept ? await this.#keepFiles(live.owner, claim, left!) : [];
      const all = [...notes, ...(outcome.notes ?? []), ...problems];
      return all.length > 0 ? { ...outcome, notes: all } : outcome;
    } finally {
      leave();
    }
  }

  /** Returns what is in the way. */
  async #keepFiles(owner: string, claim: RunClaim, { runId, files }: LeftFiles): Promise<string[]> {
    const fileBytes = await this.parts.files.keep(owner, runId, files).catch(() => undefined);
    if (fileBytes === undefined) return [NOT_SHARED];
    await claim.change({ fileBytes }).catch(() => {}); // another front end has the run
    return [];
  }

  /** The outcome is there before the run has ended, and the run has ended before it leaves the queue. */
  async #record({ claim, message, queued }: UnderWay, outcome: Outcome): Promise<void> {
    const { ledger, kept } = this.parts;
    const where = await ledger.keep(outcome, this.#closing.signal);
    await claim.change(endedWith(where));
    message?.ack();
    if (queued.storedRequest) await kept.remove(queued.storedRequest).catch(() => {});
  }

  async #requestOf({ request, storedRequest }: QueuedRun): Promise<RunRequest> {
    const { kept } = this.parts;
    const text = request ?? (storedRequest && (await kept.load(storedRequest)).toString());
    return JSON.parse(text ?? '{}') as RunRequest;
  }

  #keepAlive(): void {
    for (const { message } of this.#underWay.values()) message?.working();
  }
}

export const cancelledOutcome = (): Outcome => buildOutcome({ verdict: failure('cancelled', {}) });

const GONE = 'The request of the run is gone from the cluster: start it again.';

/** What is gone nobody else finds either; while NATS does not answer, the run is left to whoever gets it next. */
function undefinedIfGone(error: unknown): undefined {
  if (isUnanswered(error)) throw error;
}

const NOT_SHARED =
  'The files that the run left are kept at one front end only: there was no room for them in the cluster.';
