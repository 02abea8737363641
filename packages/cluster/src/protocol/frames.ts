/**
 * Frames from a worker to a front end: a kind, a sequence number, whether the next frame goes on with it, the length of the payload,
 * and the payload. All of one run are numbered from 0 without gaps. A message has one or several of them.
 */
export const FRAME_KINDS = {
  started: 'S',
  stdout: 'o',
  stderr: 'e',
  display: 'd',
  file: 'i',
  /** JSON (End), preceded by its length and followed by the attached bytes. */
  end: 'E',
  /** JSON (Refusal): nothing was started. */
  refused: 'R',
} as const;
export type FrameKind = keyof typeof FRAME_KINDS;

export interface Frame {
  kind: FrameKind;
  seq: number;
  goesOn: boolean;
  payload: Buffer;
}

/** The size of a frame without its payload. */
export const FRAME_HEAD_BYTES = 10;
const HEAD = FRAME_HEAD_BYTES;
/** Well below the largest message that NATS takes by default. */
export const MOST_PAYLOAD = 256 * 1024;
/** Several frames are one message up to this size, which is also below it. */
const MOST_MESSAGE = 2 * MOST_PAYLOAD;

const BY_BYTE = new Map(
  Object.entries(FRAME_KINDS).map(([kind, letter]) => [letter.charCodeAt(0), kind as FrameKind]),
);

export function packFrame({ kind, seq, goesOn, payload }: Frame): Buffer {
  const frame = Buffer.allocUnsafe(HEAD + payload.length);
  frame.writeUInt8(FRAME_KINDS[kind].charCodeAt(0), 0);
  frame.writeUInt32BE(seq, 1);
  frame.writeUInt8(goesOn ? 1 : 0, 5);
  frame.writeUInt32BE(payload.length, 6);
  payload.copy(frame, HEAD);
  return frame;
}

/** Returns the frames of a message, up to the first one that is none. */
export function readFrames(message: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + HEAD <= message.length; ) {
    const kind = BY_BYTE.get(message[at]!);
    const end = at + HEAD + message.readUInt32BE(at + 6);
    if (kind === undefined || end > message.length) break;
    const [seq, goesOn] = [message.readUInt32BE(at + 1), message[at + 5] === 1];
    frames.push({ kind, seq, goesOn, payload: message.subarray(at + HEAD, end) });
    at = end;
  }
  return frames;
}

/** Puts frames into as few messages as their sizes allow. */
export function joinFrames(frames: readonly Buffer[]): Buffer[] {
  const messages: Buffer[][] = [];
  let bytes = MOST_MESSAGE;
  for (const frame of frames) {
    if (bytes + frame.length > MOST_MESSAGE) {
      messages.push([]);
      bytes = 0;
    }
    messages.at(-1)!.push(frame);
    bytes += frame.length;
  }
  return messages.map((message) => (message.length === 1 ? message[0]! : Buffer.concat(message)));
}

/** Cuts a payload into parts that fit into a message; an empty one is one part. */
export function partsOf(payload: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at === 0 || at < payload.length; at += MOST_PAYLOAD)
    parts.push(payload.subarray(at, at + MOST_PAYLOAD));
  return parts;
}

const LENGTH = 4;

/** JSON with bytes attached. */
export function packAttached(json: Buffer, attached: Buffer = Buffer.alloc(0)): Buffer {
  const length = Buffer.alloc(LENGTH);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json, attached]);
}

export function readAttached(payload: Buffer): { json: Buffer; attached: Buffer } | undefined {
  if (payload.length < LENGTH) return undefined;
  const end = LENGTH + payload.readUInt32BE(0);
  if (end > payload.length) return undefined;
  return { json: payload.subarray(LENGTH, end), attached: payload.subarray(end) };
}
