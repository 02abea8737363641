import type { Outcome } from '../contract/outcome.js';
import { faultOf } from '../contract/verdicts.js';

/** The most that is remembered, however many runs fall into the window. */
const KEPT = 500;

interface Answer {
  at: number;
  isFailure: boolean;
}

interface Run {
  at: number;
  startedAt: number;
  /** From the request to its outcome: waiting for a turn and a worker included, installing not. */
  latencyMs: number;
  peakMb: number;
  /** The peaks of all runs that were under way when this one started, its own included. */
  togetherMb: number;
}

/** What there is to say of a figure, and of how much it was taken. */
export interface Figure {
  value: number;
  samples: number;
}

/** The outcomes of a window of time, as far as alerts are about them. */
export class RecentRuns {
  #answers: Answer[] = [];
  #runs: Run[] = [];

  add({ verdict, usage, isolation, cached }: Outcome, at: number): void {
    // It tells how the run of then went.
    if (cached !== null) return;
    const fault = faultOf(verdict);
    if (fault !== 'caller') keep(this.#answers, { at, isFailure: fault === 'server' });
    if (isolation.tier === null) return;
    const { wallMs, waitMs, peakMemoryMb: peakMb } = usage;
    const latencyMs = waitMs + wallMs;
    keep(this.#runs, this.#together({ at, startedAt: at - wallMs, latencyMs, peakMb, togetherMb: peakMb }));
  }

  forgetBefore(time: number): void {
    for (const list of [this.#answers, this.#runs]) {
      const still = list.findIndex(({ at }) => at >= time);
      list.splice(0, still === -1 ? list.length : still);
    }
  }

  /** The latency that only one run in twenty exceeds. One slow run among a few does not show in it. */
  latencyMs(): Figure {
    const sorted = Float64Array.from(this.#runs, (run) => run.latencyMs).sort();
    return { value: sorted[Math.floor((sorted.length - 1) * 0.95)] ?? 0, samples: sorted.length };
  }

  failurePercent(): Figure {
    const samples = this.#answers.length;
    const failures = this.#answers.filter(({ isFailure }) => isFailure).length;
    return { value: samples === 0 ? 0 : (failures / samples) * 100, samples };
  }

  /**
   * The most memory of runs that were under way together. Only the peak of a run is known, and only when it has ended,
   * so each is counted with its peak for as long as it lasted: the true figure is this one or lower.
   */
  togetherMb(): number {
    return this.#runs.reduce((most, run) => Math.max(most, run.togetherMb), 0);
  }

  /** Of two runs that overlap, the one that started first was under way when the other one did. */
  #together(ended: Run): Run {
    // They are in the order of their ends.
    for (let index = this.#runs.length - 1; index >= 0; index -= 1) {
      const other = this.#runs[index]!;
      if (other.at <= ended.startedAt) break;
      if (other.startedAt <= ended.startedAt) ended.togetherMb += other.peakMb;
      else other.togetherMb += ended.peakMb;
    }
    return ended;
  }
}

function keep<Entry>(list: Entry[], entry: Entry): void {
  list.push(entry);
  if (list.length > KEPT) list.shift();
}
