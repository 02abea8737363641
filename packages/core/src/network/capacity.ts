import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

const MOST_CONNECTIONS = 1024;
/** Each takes two descriptors, and runs, environments and the audit trail need theirs. */
const SHARE = 8;

/** The connections of all runs together. */
export class Capacity {
  readonly #most = Math.min(MOST_CONNECTIONS, Math.floor(mostDescriptors() / SHARE));
  #open = 0;

  get isReached(): boolean {
    return this.#open >= this.#most;
  }

  count(socket: Socket): void {
    this.#open += 1;
    socket.once('close', () => (this.#open -= 1));
  }
}

/** What this process may have open at most; node raised it as far as it can at its start. */
function mostDescriptors(): number {
  try {
    const [, most] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return most === undefined ? Number.POSITIVE_INFINITY : Number(most);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
