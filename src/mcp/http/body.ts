import type { IncomingMessage } from 'node:http';
import { letOthersGo, ownTurn } from '../../base/turns.js';
import { MESSAGE_LIMITS, type MessageLimits, MessageScan, type Refused } from '../message-scan.js';
import type { RoomForBodies } from './room-for-bodies.js';

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
