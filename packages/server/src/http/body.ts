import type { IncomingMessage } from 'node:http';
import { letOthersGo } from '@pungi/core/base';
import { MESSAGE_LIMITS, type MessageLimits, MessageScan, type Refused } from '../message-scan.js';

export type Body =
  | { kind: 'json'; value: unknown; bytes: number }
  | ({ kind: 'too-large' } & Refused)
  | ({ kind: 'over-limit' } & Refused)
  | { kind: 'no-room' }
  | { kind: 'not-json' }
  | { kind: 'aborted' };

/** A body above this size takes noticeable time to parse. */
const LARGE = 256 * 1024;

interface ReadOptions {
  limits?: MessageLimits;
  room?: RoomForBodies;
  /** Resolves when the next part of the body may be processed, or all of a large one. */
  takeTurn?: (isLong: boolean) => Promise<void>;
}

/** Reads a JSON body without ever holding more than the limits allow. A body over a limit is never parsed. */
export async function readJsonBody(
  req: IncomingMessage,
  { limits = MESSAGE_LIMITS, room, takeTurn }: ReadOptions = {},
): Promise<Body> {
  const announced = Number(req.headers['content-length'] ?? 0);
  if (announced > limits.bytes) return { kind: 'too-large', ...tooLarge(limits) };
  const scan = new MessageScan(limits);
  const chunks: Buffer[] = [];
  try {
    // Leaving the loop must not destroy the connection: the client still gets its response.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (scan.bytes + chunk.length > limits.bytes) return { kind: 'too-large', ...tooLarge(limits) };
      if (room?.take(req, chunk.length) === false) return { kind: 'no-room' };
      await takeTurn?.(false);
      scan.add(chunk);
      if (scan.problem === undefined) chunks.push(chunk);
      else chunks.length = 0;
    }
  } catch {
    return { kind: 'aborted' };
  }
  const { problem, id } = scan;
  if (problem !== undefined) return { kind: 'over-limit', problem, id };
  if (scan.bytes > LARGE) await takeTurn?.(true);
  const began = performance.now();
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    await letOthersGo(began);
    return { kind: 'json', value, bytes: scan.bytes };
  } catch {
    return { kind: 'not-json' };
  }
}

const tooLarge = ({ bytes }: MessageLimits): Refused => ({
  id: null,
  problem: `The message has more than ${bytes} bytes: split it into smaller requests.`,
});

/** The total for all requests; each may be 8 MiB. */
const MOST_BYTES = 128 * 1024 * 1024;
/** A request below this size always has room, so large or slow senders cannot block other clients. */
const SMALL = 64 * 1024;

interface Held {
  bytes: number;
  isComplete: boolean;
}

/**
 * Limits how much memory all requests hold together, from their first byte to their response. When the limit is reached, the
 * body that has been arriving longest is dropped in favour of the new one.
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

  /** Returns whether this request may hold that many more bytes. */
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

  /** Marks a request as fully received: it is no longer dropped in favour of others. */
  complete(req: IncomingMessage): void {
    const held = this.#held.get(req);
    if (held) held.isComplete = true;
  }

  release(req: IncomingMessage): void {
    this.#bytes -= this.#held.get(req)?.bytes ?? 0;
    this.#held.delete(req);
  }
}
