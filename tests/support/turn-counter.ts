/** Counts turns of the event loop. */
export class TurnCounter {
  count = 0;
  #next = setImmediate(() => this.#turn());

  #turn(): void {
    this.count += 1;
    this.#next = setImmediate(() => this.#turn());
  }

  stop(): void {
    clearImmediate(this.#next);
  }
}
