import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DAMAGED, type FoundRun, lostOutcome } from '@pungi/core/background';
import { PungiError } from '@pungi/core/base';
import { buildOutcome, type Outcome } from '@pungi/core/contract';
import type { Fronts } from '../front/fronts.js';
import { filesOfRun, type KeptOutcome, type RunState } from '../protocol/background.js';
import type { KeptOutcomes } from './kept-outcomes.js';
import { isFull } from './patience.js';
import type { RunQueue } from './run-queue.js';
import { isOpen, type RunStates, type SeenState } from './run-states.js';

interface Parts {
  states: RunStates;
  kept: KeptOutcomes;
  queue: RunQueue;
  fronts: Fronts;
}

/** Runs that are kept, besides their size. */
const MOST_OF_CALLER = 500;
const MOST_OF_ALL = 5000;
const MOST_REMOVED = 100;
/** A run that was accepted is in the queue within this time. */
const QUEUED_MS = 10_000;
const AGAIN_MS = 250;
/** The outcome of a run that somebody else ends is kept within this time. */
const END_MS = 10_000;

const LOST = {
  true: 'The front end that ran it was lost while the run was under way: how it ended is not known.',
  false: 'The run was lost before it had started: start it again.',
  null: 'The front end that ran it was lost: whether the run had started is not known.',
};

/** What is known of the start of a run whose front end is lost: `starting` is written before the order goes out. */
const STARTED: Record<Exclude<RunState['phase'], 'ended'>, boolean | null> = {
  queued: false,
  taken: false,
  starting: null,
  started: true,
};

/** Ends runs, each once, and keeps their outcomes within the limits. */
export class Ledger {
  constructor(private readonly parts: Parts) {}

  /** The outcome of a run whose front end is lost. */
  lost({ state: { phase, runId } }: SeenState): Outcome {
    const started = phase === 'ended' ? null : STARTED[phase];
    return lostOutcome(started, LOST[`${started}`], runId);
  }

  /** Returns undefined if somebody else has changed it meanwhile. */
  async end(seen: SeenState, outcome: Outcome): Promise<SeenState | undefined> {
    const { states, kept, queue } = this.parts;
    const where = await this.keep(outcome, AbortSignal.timeout(END_MS));
    const changes = { ...endedWith(where), attempt: newAttempt() };
    const ended = await this.withRoom(() => states.change(seen, changes));
    if (ended === undefined && where) void kept.forget(where).catch(() => {});
    if (ended === undefined) return undefined;
    // It is not run any more, and stays in the queue until a front end has a turn.
    const stored = (await queue.find(seen.state.run).catch(() => undefined))?.storedRequest;
    if (stored) await kept.remove(stored).catch(() => {});
    return ended;
  }

  /** Marks a run as lost that nobody runs and nobody will: its front end is gone, and it is not in the queue. */
  async settle(seen: SeenState): Promise<SeenState> {
    const { states, queue, fronts } = this.parts;
    if (!isOpen(seen)) return seen;
    const isForgotten = seen.state.phase === 'queued' && states.unchangedMs(seen) > QUEUED_MS;
    if (!fronts.isGone(seen.state.front) && !isForgotten) return seen;
    if (await queue.has(seen.state.run)) return seen;
    return (await this.end(seen, this.lost(seen))) ?? (await states.get(seen.key)) ?? seen;
  }

  /** What the owner of a run sees of it. */
  async describe({ state }: SeenState): Promise<FoundRun> {
    const { run, acceptedAt, endedAt, replyDetail, phase, outcome: where } = state;
    if (phase !== 'ended') return { run, acceptedAt, state: stateOf(state) };
    const outcome = (where && (await this.parts.kept.read(where))) ?? lostOutcome(null, DAMAGED);
    return { run, acceptedAt, state: 'ended', endedAt: endedAt ?? acceptedAt, replyDetail, outcome };
  }

  /**
   * Keeps an outcome: older ones make room, and what takes much room is left out of it if that is not enough. `closing`: NATS is not
   * waited for any more.
   */
  async keep(outcome: Outcome, closing: AbortSignal): Promise<KeptOutcome | undefined> {
    let least: Outcome | undefined;
    for (;;)
      try {
        return await this.parts.kept.keep(least ?? outcome);
      } catch (error) {
        if (closing.aborted) throw error;
        // Files take most of the object store: the outcomes of others would make no room there.
        if (error instanceof PungiError && isFull(error) && least === undefined) {
          least = withoutContent(outcome);
          continue;
        }
        if (!isFull(error)) await pause(AGAIN_MS);
        else if (await this.#makeRoom()) continue;
        else if (least !== undefined) return undefined;
        else least = withoutContent(outcome);
      }
  }

  /** Accepts a run. Returns undefined if there is no room. */
  async accept(key: string, owner: string, state: RunState): Promise<SeenState | undefined> {
    const { states } = this.parts;
    const own = states.all(owner);
    const oldest = own.find((one) => !isOpen(one));
    if (own.length >= MOST_OF_CALLER && oldest) await this.#remove(oldest);
    if (states.all().length >= MOST_OF_ALL && !(await this.#makeRoom())) return undefined;
    return this.withRoom(() => states.create(key, state)).catch((error: unknown) => {
      if (isFull(error)) return undefined;
      throw error;
    });
  }

  /** Writes a state: ended runs make room for it. */
  async withRoom<T>(write: () => Promise<T>): Promise<T> {
    for (let removed = 0; ; removed += 1)
      try {
        return await write();
      } catch (error) {
        if (!isFull(error) || removed === MOST_REMOVED || !(await this.#makeRoom())) throw error;
      }
  }

  /** The oldest ended run of whoever has the most makes room. Returns whether there was one. */
  async #makeRoom(): Promise<boolean> {
    const ended = this.parts.states.all().filter((one) => !isOpen(one));
    const counts = new Map<string, number>();
    const ownerOf = ({ key }: SeenState) => key.split('.')[1]!;
    for (const one of ended) counts.set(ownerOf(one), (counts.get(ownerOf(one)) ?? 0) + 1);
    const most = Math.max(0, ...counts.values());
    const oldest = ended.find((one) => counts.get(ownerOf(one)) === most);
    if (oldest) await this.#remove(oldest);
    return oldest !== undefined;
  }

  async #remove(seen: SeenState): Promise<void> {
    const { states, kept } = this.parts;
    const { outcome, fileBytes, runId } = seen.state;
    if (!(await states.remove(seen))) {
      await states.get(seen.key);
      return;
    }
    if (outcome) await kept.forget(outcome);
    if (fileBytes) await kept.forgetFiles(filesOfRun(seen.key, runId));
  }
}

/** Whoever has another one has lost the run. */
export const newAttempt = (): string => randomBytes(12).toString('base64url');

export const endedWith = (outcome: KeptOutcome | undefined): Partial<RunState> => ({
  phase: 'ended',
  endedAt: new Date().toISOString(),
  ...(outcome && { outcome }),
});

export const stateOf = ({ phase }: RunState): FoundRun['state'] => {
  if (phase === 'ended') return 'ended';
  return phase === 'queued' || phase === 'taken' ? 'waiting' : 'running';
};

const withoutContent = ({ runId, verdict, usage, codeSha256, environment, profile }: Outcome): Outcome =>
  buildOutcome({
    ...{ runId, verdict, usage, codeSha256, environment, profile },
    notes: ['Output and value were not kept: there was no room (BACKGROUND_MB).'],
  });
