import { setImmediate } from 'node:timers/promises';

/** The most items per commit, so that the next commit does not wait for long. */
const MOST_AT_ONCE = 500;
const MOST_BYTES_AT_ONCE = 1024 * 1024;
/** Within this time after a commit, more items are likely to arrive in the same turn of the event loop. */
const BUSY_MS = 2;

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Commits items in order; items that arrive during a commit share the next one. */
export class SharedCommits<Item, Result> {
  readonly #commit: (items: Item[]) => Promise<Result[]>;
  readonly #bytesOf: (item: Item) => number;
  #waiting: Waiting<Item, Result>[] = [];
  #under: Promise<void> | undefined;
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(commit: (items: Item[]) => Promise<Result[]>, bytesOf: (item: Item) => number = () => 0) {
    this.#commit = commit;
    this.#bytesOf = bytesOf;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#under ??= this.#work();
    });
  }

  /** Resolves when nothing is pending. */
  async settled(): Promise<void> {
    while (this.#under !== undefined) await this.#under;
  }

  async #work(): Promise<void> {
    // A single item does not wait for others, except in a busy moment.
    if (performance.now() - this.#endedAt < BUSY_MS) await setImmediate();
    else await undefined;
    while (this.#waiting.length > 0) {
      await this.#commitSome(this.#waiting.splice(0, this.#countForOne()));
      // A commit blocks the event loop, so requests that arrived during it are read before the next one.
      if (this.#waiting.length > 0) await setImmediate();
    }
    this.#endedAt = performance.now();
    this.#under = undefined;
  }

  /** Returns how many pending items go into one commit: at least one, of any size. */
  #countForOne(): number {
    let bytes = 0;
    const tooMany = this.#waiting.findIndex(({ item }, index) => {
      bytes += this.#bytesOf(item);
      return index >= MOST_AT_ONCE || (index > 0 && bytes > MOST_BYTES_AT_ONCE);
    });
    return tooMany < 0 ? this.#waiting.length : tooMany;
  }

  async #commitSome(some: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#commit(some.map(({ item }) => item));
      for (const [index, { resolve }] of some.entries()) resolve(results[index]!);
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  }
}
