/** Older ones are too old for any order. */
const MOST_REMEMBERED = 64;

/** When this worker has sent which heartbeat. */
export class OwnBeats {
  readonly #sent = new Map<number, number>();
  #last = 0;

  /** The number of the next one, which is sent now. */
  next(): number {
    this.#last += 1;
    this.#sent.set(this.#last, performance.now());
    this.#sent.delete(this.#last - MOST_REMEMBERED);
    return this.#last;
  }

  /** In ms. */
  ageOf(beat: number): number {
    return performance.now() - (this.#sent.get(beat) ?? Number.NEGATIVE_INFINITY);
  }
}
