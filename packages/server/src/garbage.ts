import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** So many calls leave garbage that takes half a millisecond to collect. */
const MOST_CALLS = 16;
/** Then the last reply is on its way, and a client that goes on at once has done so. */
const REST_MS = 1;

/**
 * Collects the garbage of calls while none is under way. V8 alone does so when it has filled 16 MB, in about every hundredth call, which
 * then takes milliseconds longer.
 */
export class Garbage {
  #active = 0;
  #calls = 0;
  #rest: NodeJS.Timeout | undefined;

  constructor(private readonly collect: () => void) {}

  async during<T>(call: () => Promise<T>): Promise<T> {
    this.#active += 1;
    try {
      return await call();
    } finally {
      this.#active -= 1;
      this.#calls += 1;
      if (this.#isDue) this.#rest ??= setTimeout(() => this.#look(), REST_MS).unref();
    }
  }

  get #isDue(): boolean {
    return this.#active === 0 && this.#calls >= MOST_CALLS;
  }

  #look(): void {
    this.#rest = undefined;
    if (!this.#isDue) return; // the next call that ends looks again
    this.#calls = 0;
    this.collect();
  }
}

/** All servers of a process share its memory. */
export const garbage = new Garbage(collectorOfYoung());

/** Returns a function that collects what was made lately, if the engine offers one. */
function collectorOfYoung(): () => void {
  try {
    setFlagsFromString('--expose-gc');
    const collect: (options: { type: 'minor' }) => void = runInNewContext('gc');
    return () => collect({ type: 'minor' });
  } catch {
    return () => {};
  }
}
