import { setImmediate } from 'node:timers/promises';

/** So that one commit stays short for those who wait for the next. */
const MOST_AT_ONCE = 500;
const MOST_BYTES_AT_ONCE = 1024 * 1024;
/** So soon after a commit, more are likely to come in the same turn of the event loop. */
const BUSY_MS = 2;

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Commits items in their order; those that come while a commit is under way share the next one. */
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

  /** Resolves when nothing waits any more. */
  async settled(): Promise<void> {
    while (this.#under !== undefined) await this.#under;
  }

  async #work(): Promise<void> {
    // Whoever comes alone does not wait for others, only for what is said in the same breath.
    if (performance.now() - this.#endedAt < BUSY_MS) await setImmediate();
    else await undefined;
    while (this.#waiting.length > 0) {
      await this.#commitSome(this.#waiting.splice(0, this.#countForOne()));
      // A commit blocks the event loop; what arrived during it is heard before the next begins.
      if (this.#waiting.length > 0) await setImmediate();
    }
    this.#endedAt = performance.now();
    this.#under = undefined;
  }

  /** How many of those that wait go into one commit; one of any size does. */
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
