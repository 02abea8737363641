import type { Outcome } from '../contract/outcome.js';
import { faultOf } from '../contract/verdicts.js';

/** The most runs that are remembered per window. */
const KEPT = 500;

interface Answer {
  at: number;
  isFailure: boolean;
}

interface Run {
  at: number;
  startedAt: number;
  /** From the request to its outcome, including the wait for a worker, without installation. */
  latencyMs: number;
  peakMb: number;
  /** The sum of the peaks of all runs that were active when this one started, including this one. */
  togetherMb: number;
}

/** A measured value and the number of samples behind it. */
export interface Figure {
  value: number;
  samples: number;
}

/** The outcomes of a time window, as far as alerts use them. */
export class RecentRuns {
  #answers: Answer[] = [];
  #runs: Run[] = [];

  add({ verdict, usage, isolation, cached }: Outcome, at: number): void {
    // A cached outcome describes an earlier run.
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

  /** Returns the 95th percentile of the latency, so that a single slow run does not raise an alert. */
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
   * Returns the highest memory of concurrent runs. Only the peak of a run is known, and only after its end, so each
   * run counts with its peak for its whole duration: this is an upper bound.
   */
  togetherMb(): number {
    return this.#runs.reduce((most, run) => Math.max(most, run.togetherMb), 0);
  }

  /** When two runs overlap, the earlier one was active when the later one started. */
  #together(ended: Run): Run {
    // They are ordered by their ends.
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
