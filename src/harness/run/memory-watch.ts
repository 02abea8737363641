import type { ServerProcess } from '../../runtime/server-process.js';

const LOOK_EVERY_MS = 50;

/** The most memory that the processes of a server have at a time. */
export class MemoryWatch {
  readonly #process: ServerProcess;
  readonly #timer: NodeJS.Timeout;
  #most: number | undefined;

  constructor(process: ServerProcess) {
    this.#process = process;
    this.#look();
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  end(): number | undefined {
    clearInterval(this.#timer);
    this.#look();
    return this.#most;
  }

  #look(): void {
    const now = this.#process.memoryMb();
    if (now !== undefined) this.#most = Math.max(now, this.#most ?? 0);
  }
}
