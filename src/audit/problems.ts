import type { AuditProblem } from '../contract/audit.js';

const MOST = 1000;

/** What verifying found: one problem for each number, the first that was seen. */
export class Problems {
  readonly #bySeq = new Map<number, string>();

  add(seq: number, problem: string): void {
    if (this.#bySeq.size < MOST && !this.#bySeq.has(seq)) this.#bySeq.set(seq, problem);
  }

  has(seq: number): boolean {
    return this.#bySeq.has(seq);
  }

  addMissing(from: number, through: number, witness: string): void {
    const which = from === through ? `Entry ${from} is` : `Entries ${from} to ${through} are`;
    this.add(from, `${which} missing: ${witness}.`);
  }

  list(): AuditProblem[] {
    return [...this.#bySeq].map(([seq, problem]) => ({ seq, problem })).sort((a, b) => a.seq - b.seq);
  }
}
