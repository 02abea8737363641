import type { KeyObject } from 'node:crypto';
import { type Checkpoint, isSigned } from './checkpoint.js';
import { type Database, rowsDown } from './database.js';
import type { Problems } from './problems.js';

/** The regular checkpoints from the newest down, each checked for its signature and for the one before it. */
export class CheckpointCheck {
  count = 0;
  readonly #rows: Iterator<Checkpoint, void>;
  readonly #key: KeyObject;
  readonly #start: number;
  readonly #problems: Problems;
  #next: Checkpoint | undefined;
  /** The number that the checkpoint above names as the one before it; undefined where that one is not believed. */
  #awaited: number | undefined;

  constructor(
    database: Database,
    key: KeyObject,
    start: number,
    newest: number | undefined,
    problems: Problems,
  ) {
    this.#rows = rowsDown(
      database.prepare(
        `SELECT * FROM checkpoints WHERE role = 'regular' AND seq < ? ORDER BY seq DESC LIMIT 1`,
      ),
    );
    this.#key = key;
    this.#start = start;
    this.#awaited = newest;
    this.#problems = problems;
    this.#next = this.#read();
  }

  /** The hash that was signed for this entry; passes over all checkpoints of later ones. */
  signedHash(seq: number): string | undefined {
    while (this.#next !== undefined && this.#next.seq > seq) this.#take();
    return this.#next?.seq === seq ? this.#take() : undefined;
  }

  /** The number of the newest believed checkpoint above `seq`, which no entry is left to go with. */
  newestAbove(seq: number): number | undefined {
    let newest: number | undefined;
    while (this.#next !== undefined && this.#next.seq > seq) {
      const at = this.#next.seq;
      if (this.#take() !== undefined) newest ??= at;
    }
    return newest;
  }

  finish(): void {
    while (this.#next !== undefined) this.#take();
    this.#reportSkipped(this.#start);
  }

  /** Checks the next one and returns its hash where it can be believed. */
  #take(): string | undefined {
    const checkpoint = this.#next!;
    const { seq, previous, hash } = checkpoint;
    this.#next = this.#read();
    this.count += 1;
    if (!isSigned(checkpoint, this.#key)) {
      this.#problems.add(seq, `The checkpoint at entry ${seq} has a bad signature.`);
      // It may be the awaited one under another number; which of them is missing cannot be told.
      this.#awaited = undefined;
      return undefined;
    }
    if (seq <= this.#start) this.#problems.add(seq, `The checkpoint at entry ${seq} lies before the cut.`);
    else if (this.#awaited !== undefined && this.#awaited < seq)
      this.#problems.add(seq, `The checkpoint at entry ${seq} is not known to what follows it.`);
    else this.#reportSkipped(seq);
    this.#awaited = previous;
    return hash;
  }

  #reportSkipped(reached: number): void {
    if (this.#awaited !== undefined && this.#awaited > reached)
      this.#problems.add(this.#awaited, `The checkpoint at entry ${this.#awaited} is missing.`);
  }

  #read(): Checkpoint | undefined {
    return this.#rows.next().value ?? undefined;
  }
}
