import { setImmediate } from 'node:timers/promises';

/** So that one commit stays short for those who wait for the next. */
const MOST_AT_ONCE = 500;

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Commits items in their order; those that come while a commit is under way share the next one. */
export class SharedCommits<Item, Result> {
  readonly #commit: (items: Item[]) => Promise<Result[]>;
  #waiting: Waiting<Item, Result>[] = [];
  #under: Promise<void> | undefined;

  constructor(commit: (items: Item[]) => Promise<Result[]>) {
    this.#commit = commit;
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
    while (this.#waiting.length > 0) {
      // A commit blocks the event loop; what arrived during it is heard before the next begins.
      await setImmediate();
      await this.#commitSome(this.#waiting.splice(0, MOST_AT_ONCE));
    }
    this.#under = undefined;
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
