import type { IncomingMessage } from 'node:http';

/** All requests together; each may be 8 MiB. */
const MOST_BYTES = 128 * 1024 * 1024;
/** A request below this always finds room: no client can keep others from calling by sending much, or slowly. */
const SMALL = 64 * 1024;

interface Held {
  bytes: number;
  isComplete: boolean;
}

/**
 * Bounds what all requests hold in memory together, from their first byte to their answer. Where there is no room left, the
 * body that has been on its way longest gives way to the new one.
 */
export class RoomForBodies {
  readonly #held = new Map<IncomingMessage, Held>();
  readonly #most: number;
  #bytes = 0;

  constructor(most: number = MOST_BYTES) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether there is room for so many more bytes of this request. */
  take(req: IncomingMessage, bytes: number): boolean {
    const held = this.#held.get(req) ?? { bytes: 0, isComplete: false };
    held.bytes += bytes;
    this.#held.set(req, held);
    this.#bytes += bytes;
    if (held.bytes <= SMALL) return true;
    while (this.#bytes > this.#most) {
      const slowest = [...this.#held].find(([other, { isComplete }]) => !isComplete && other !== req);
      if (slowest === undefined) return false;
      this.release(slowest[0]);
      slowest[0].destroy();
    }
    return true;
  }

  /** All of it has come: what is answered now is not given up for others. */
  complete(req: IncomingMessage): void {
    const held = this.#held.get(req);
    if (held) held.isComplete = true;
  }

  release(req: IncomingMessage): void {
    this.#bytes -= this.#held.get(req)?.bytes ?? 0;
    this.#held.delete(req);
  }
}
