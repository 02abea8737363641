import { setImmediate as immediately } from 'node:timers/promises';

/** Lets so many work at a time; the others wait in the order in which they came. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}

const LONG_MS = 4;
let lastTurn: Promise<void> = Promise.resolve();

/**
 * Ends this turn of the event loop where it has taken long since that time, so that what large input costs is spread over
 * several turns, and other clients are answered between them.
 */
export async function letOthersGo(since: number): Promise<void> {
  if (performance.now() - since > LONG_MS) await ownTurn();
}

/** Resolves in a turn that no other caller of this gets: several large requests take theirs one after the other. */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => immediately());
  return lastTurn;
}

/** Resolves when that is done, or when it has taken so long. */
export async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
