import type { NetworkDecision } from '../runtime/network/visit.js';

/** More of one run tell nothing new. */
const MOST_OF_ONE_RUN = 100;

/** Hosts that runs were kept from, until these have ended and it is recorded. */
export class NetworkRefusals {
  readonly #byRun = new Map<string, Map<string, string>>();

  note({ run, host, port, allowed, reason }: NetworkDecision): void {
    if (allowed || run === null) return;
    const ofRun = this.#byRun.get(run) ?? new Map<string, string>();
    this.#byRun.set(run, ofRun);
    if (ofRun.size < MOST_OF_ONE_RUN)
      ofRun.set(`${host}:${port}`, reason ?? 'The profile does not allow it.');
  }

  /** What a run that has ended was refused, once. */
  take(run: string): { what: string; reason: string }[] {
    const ofRun = this.#byRun.get(run);
    this.#byRun.delete(run);
    return [...(ofRun ?? [])].map(([what, reason]) => ({ what, reason }));
  }
}
