import type { IncomingMessage } from 'node:http';
import { letOthersGo, ownTurn } from '@pungi/core/base';
import { MESSAGE_LIMITS, type MessageLimits, MessageScan, type Refused } from '../message-scan.js';

export type Body =
  | { kind: 'json'; value: unknown; bytes: number }
  | ({ kind: 'too-large' } & Refused)
  | ({ kind: 'over-limit' } & Refused)
  | { kind: 'no-room' }
  | { kind: 'not-json' }
  | { kind: 'aborted' };

/** Parsing it takes more than a moment. */
const LARGE = 256 * 1024;

interface ReadOptions {
  limits?: MessageLimits;
  room?: RoomForBodies;
}

/** Reads a JSON body without ever holding more than the limits allow. What exceeds them is never parsed. */
export async function readJsonBody(
  req: IncomingMessage,
  { limits = MESSAGE_LIMITS, room }: ReadOptions = {},
): Promise<Body> {
  const announced = Number(req.headers['content-length'] ?? 0);
  if (announced > limits.bytes) return { kind: 'too-large', ...tooLarge(limits) };
  const scan = new MessageScan(limits);
  const chunks: Buffer[] = [];
  try {
    // Leaving the loop must not destroy the connection: the client still gets its answer.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (scan.bytes + chunk.length > limits.bytes) return { kind: 'too-large', ...tooLarge(limits) };
      if (room?.take(req, chunk.length) === false) return { kind: 'no-room' };
      scan.add(chunk);
      if (scan.problem === undefined) chunks.push(chunk);
      else chunks.length = 0;
    }
  } catch {
    return { kind: 'aborted' };
  }
  const { problem, id } = scan;
  if (problem !== undefined) return { kind: 'over-limit', problem, id };
  if (scan.bytes > LARGE) await ownTurn();
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
  problem: `The message has more than ${bytes} bytes: send less at a time.`,
});

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
