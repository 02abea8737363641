/** Node stops a timer that is longer at once. */
const FOREVER_MS = 2 ** 31 - 1;

/**
 * Idle sockets and processes do not keep Node from ending, so that a program that forgets `close` ends by itself. While
 * something is under way that only they can answer, this does.
 */
export class KeepAlive {
  readonly #timer = setInterval(() => {}, FOREVER_MS).unref();
  #count = 0;

  async during<T>(work: () => Promise<T>): Promise<T> {
    if (++this.#count === 1) this.#timer.ref();
    try {
      return await work();
    } finally {
      if (--this.#count === 0) this.#timer.unref();
    }
  }
}
