import type { NetworkDecision } from '../network/run-connections.js';

export interface NetworkRefusal {
  what: string;
  reason: string;
}

/** Hosts of one run that are recorded each for itself; of more the number tells enough. */
const MOST_HOSTS = 98;

/** What one run was refused. */
class OfRun {
  readonly #hosts = new Map<string, string>();
  readonly #leftOut = new Set<string>();
  #last: NetworkRefusal | undefined;

  note(what: string, reason: string, isLast: boolean): void {
    if (isLast) this.#last = { what, reason };
    else if (this.#hosts.has(what) || this.#hosts.size < MOST_HOSTS) this.#hosts.set(what, reason);
    else this.#leftOut.add(what);
  }

  /** What tells most stands first, in case that not all of it is recorded. */
  *told(): Generator<NetworkRefusal> {
    if (this.#last) yield this.#last;
    if (this.#leftOut.size > 0)
      yield {
        what: `${this.#leftOut.size} more hosts`,
        reason: `The run was refused these, too; the first ${MOST_HOSTS} are recorded by name.`,
      };
    for (const [what, reason] of this.#hosts) if (what !== this.#last?.what) yield { what, reason };
  }
}

/** Hosts that runs were kept from, until these have ended and it is recorded. */
export class NetworkRefusals {
  readonly #byRun = new Map<string, OfRun>();

  note({ run, host, port, allowed, reason, isLast }: NetworkDecision): void {
    if (allowed || run === null) return;
    const ofRun = this.#byRun.get(run) ?? new OfRun();
    this.#byRun.set(run, ofRun);
    ofRun.note(`${host}:${port}`, reason ?? 'The profile does not allow it.', isLast);
  }

  /** What a run that has ended was refused, once. */
  take(run: string): NetworkRefusal[] {
    const ofRun = this.#byRun.get(run);
    this.#byRun.delete(run);
    return [...(ofRun?.told() ?? [])];
  }
}
