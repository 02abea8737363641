import type { Logger } from '@pungi/core/base';

/** Claims in a row that a worker may break. */
const MOST_BROKEN = 3;
const PAUSE_MS = 60_000;

interface Record {
  broken: number;
  /** It is not used before. */
  pausedUntil: number;
}

/**
 * Which workers keep what they claim. One that claims runs and does not run them, because it lies or because its disk is full, would
 * draw all runs to itself: it is always free. Its claims are declined for a time. Only what no client can bring about counts.
 */
export class Trust {
  readonly #records = new Map<string, Record>();

  constructor(private readonly logger: Logger) {}

  isTrusted(worker: string): boolean {
    const record = this.#records.get(worker);
    return record === undefined || performance.now() >= record.pausedUntil;
  }

  /** It has broken a claim. */
  lower(worker: string, why: string): void {
    if (!this.isTrusted(worker)) return;
    const broken = (this.#records.get(worker)?.broken ?? 0) + 1;
    if (broken < MOST_BROKEN) this.#records.set(worker, { broken, pausedUntil: 0 });
    else {
      this.#records.set(worker, { broken: 0, pausedUntil: performance.now() + PAUSE_MS });
      this.logger.error('A worker is not used for a minute', { worker, why });
    }
  }

  /** It has reported how a run ended. */
  restore(worker: string): void {
    if (this.isTrusted(worker)) this.#records.delete(worker);
  }
}
