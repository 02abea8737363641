import { setTimeout as pause } from 'node:timers/promises';
import { PungiError } from '@pungi/core/base';
import type { RunState } from '../protocol/background.js';
import type { Ledger } from './ledger.js';
import type { RunStates, SeenState } from './run-states.js';

/** What NATS did not answer is tried again after this. */
const AGAIN_MS = 250;

/**
 * A background run that this front end has taken. Each change expects that nobody else has taken it since: a front end that was slow,
 * or cut off, notices before it orders anything, and before it writes an outcome.
 */
export class RunClaim {
  #seen: SeenState;
  #turn: Promise<void> = Promise.resolve();
  #isLost = false;

  /** `closing`: NATS is not waited for any more. */
  constructor(
    private readonly states: RunStates,
    seen: SeenState,
    private readonly closing: AbortSignal,
    private readonly hooks: {
      onStop: () => void;
      /** Writes a state, and makes room for it if there is none. */
      withRoom: Ledger['withRoom'];
    },
  ) {
    this.#seen = seen;
  }

  get key(): string {
    return this.#seen.key;
  }

  /** Somebody else has the run, or has ended it. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** One change after the other. Rejects if somebody else has taken the run. */
  change(changes: Partial<RunState>): Promise<void> {
    const done = this.#turn.then(() => this.#change(changes));
    this.#turn = done.catch(() => {});
    return done;
  }

  /** Another front end has changed it. */
  note({ state: { attempt, phase, isCancelled } }: SeenState): void {
    if (attempt !== this.#seen.state.attempt) this.#isLost = true;
    if (this.#isLost || (isCancelled && phase !== 'ended')) this.hooks.onStop();
  }

  async #change(changes: Partial<RunState>): Promise<void> {
    for (;;) {
      if (this.#isLost) throw takenOver();
      try {
        if (await this.#attempt(changes)) return;
      } catch (error) {
        if (this.closing.aborted) throw error;
        await pause(AGAIN_MS);
      }
    }
  }

  /** A change that was made without an answer is made again. */
  async #attempt(changes: Partial<RunState>): Promise<boolean> {
    const changed = await this.hooks.withRoom(() => this.states.change(this.#seen, changes));
    const now = changed ?? (await this.states.get(this.key));
    if (now === undefined) this.#isLost = true;
    else this.note(now);
    if (now === undefined || this.#isLost) return false;
    this.#seen = now;
    return changed !== undefined || now.state.phase === 'ended';
  }
}

const takenOver = () => new PungiError('CANCELLED', 'Another front end has taken over the run.');
