interface Waiting {
  wake: () => void;
}

interface Line {
  waiting: Waiting[];
  /** Claims since one of the line got none. */
  streak: number;
}

/** Runs that wait for a worker, by need: a run that waits for a rare worker holds nobody else back. */
export class Lines {
  readonly #lines = new Map<string, Line>();

  has(need: string): boolean {
    return this.#lines.has(need);
  }

  /** Resolves when it is worth another attempt. `isFirst`: it had its turn already. */
  wait(need: string, stop: AbortSignal, isFirst: boolean): Promise<void> {
    return new Promise((resolve) => {
      if (stop.aborted) {
        resolve();
        return;
      }
      const line = this.#lines.get(need) ?? { waiting: [], streak: 0 };
      this.#lines.set(need, line);
      const abort = () => {
        line.waiting = line.waiting.filter((one) => one !== waiting);
        this.#keep(need, line);
        resolve();
      };
      const wake = () => {
        stop.removeEventListener('abort', abort);
        resolve();
      };
      const waiting = { wake };
      stop.addEventListener('abort', abort, { once: true });
      if (isFirst) {
        line.streak = 0;
        line.waiting.unshift(waiting);
      } else line.waiting.push(waiting);
    });
  }

  /**
   * One has got a worker, so there may be another. If that was so several times, two are woken: as long as there are free workers, a
   * line of any length is gone after a few steps, and while there are none, no more than one asks in vain.
   */
  noteClaim(need: string): void {
    const line = this.#lines.get(need);
    if (line === undefined) return;
    line.streak += 1;
    this.#wake(need, line);
    if (line.streak > 1) this.#wake(need, line);
  }

  /** Wakes the first of each line. */
  wakeFirst(): void {
    for (const [need, line] of [...this.#lines]) this.#wake(need, line);
  }

  close(): void {
    for (const { wake } of [...this.#lines.values()].flatMap(({ waiting }) => waiting)) wake();
    this.#lines.clear();
  }

  #wake(need: string, line: Line): void {
    line.waiting.shift()?.wake();
    this.#keep(need, line);
  }

  #keep(need: string, line: Line): void {
    if (line.waiting.length === 0 && this.#lines.get(need) === line) this.#lines.delete(need);
  }
}
