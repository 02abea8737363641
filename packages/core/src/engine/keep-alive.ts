/** The longest timer of Node; a longer one fires at once. */
const FOREVER_MS = 2 ** 31 - 1;

/**
 * Idle sockets and processes do not keep Node running, so that a program that forgets `close` ends by itself. While
 * an operation waits for them, this does.
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
