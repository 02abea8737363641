/** What a front end holds for the runs of one worker: many times what its runs can leave at the same time by default. */
const MOST_BYTES = 512 * 1024 * 1024;

/** Counts what each worker has sent and the front end holds until the run has ended, so that no worker can fill its memory. */
export class Holdings {
  readonly #bytes = new Map<string, number>();

  constructor(private readonly most = MOST_BYTES) {}

  /** Returns false if it is too much. */
  take(worker: string, bytes: number): boolean {
    const held = (this.#bytes.get(worker) ?? 0) + bytes;
    if (held > this.most) return false;
    this.#bytes.set(worker, held);
    return true;
  }

  giveBack(worker: string, bytes: number): void {
    const left = (this.#bytes.get(worker) ?? 0) - bytes;
    if (left > 0) this.#bytes.set(worker, left);
    else this.#bytes.delete(worker);
  }
}
