import type { NetworkDecision } from '../network/run-connections.js';

interface NetworkRefusal {
  what: string;
  reason: string;
}

/** Hosts per run that are recorded individually; further ones are only counted. */
const MOST_HOSTS = 98;

/** The hosts that one run was refused. */
class OfRun {
  readonly #hosts = new Map<string, string>();
  readonly #leftOut = new Set<string>();
  #last: NetworkRefusal | undefined;

  note(what: string, reason: string, isLast: boolean): void {
    if (isLast) this.#last = { what, reason };
    else if (this.#hosts.has(what) || this.#hosts.size < MOST_HOSTS) this.#hosts.set(what, reason);
    else this.#leftOut.add(what);
  }

  /** Yields the most important refusals first, in case not all of them are recorded. */
  *list(): Generator<NetworkRefusal> {
    if (this.#last) yield this.#last;
    if (this.#leftOut.size > 0)
      yield {
        what: `${this.#leftOut.size} more hosts`,
        reason: `The run was refused these as well; only the first ${MOST_HOSTS} are recorded by name.`,
      };
    for (const [what, reason] of this.#hosts) if (what !== this.#last?.what) yield { what, reason };
  }
}

/** The hosts that runs were refused, until the runs have ended and are recorded. */
export class NetworkRefusals {
  readonly #byRun = new Map<string, OfRun>();

  note({ run, host, port, allowed, reason, isLast }: NetworkDecision): void {
    if (allowed || run === null) return;
    const ofRun = this.#byRun.get(run) ?? new OfRun();
    this.#byRun.set(run, ofRun);
    ofRun.note(`${host}:${port}`, reason ?? 'The profile does not allow it.', isLast);
  }

  /** Returns and forgets the refusals of a run that has ended. */
  take(run: string): NetworkRefusal[] {
    const ofRun = this.#byRun.get(run);
    this.#byRun.delete(run);
    return [...(ofRun?.list() ?? [])];
  }
}
