/**
 * Frames on a stream: four bytes of length, one byte of kind, then the payload. Implemented in Python by frames.py.
 */
const HEAD = 5;
/** More than any frame of a supervisor; a longer one means that the stream is corrupt. */
const MAX_PAYLOAD = 64 * 1024 * 1024;

export const KINDS = {
  limits: 'L',
  job: 'J',
  input: 'I',
  stdin: 's',
  cancel: 'C',
  warmUp: 'W',
  copy: 'B',
  hello: 'H',
  parked: 'P',
  failed: 'F',
  stdout: 'o',
  stderr: 'e',
  wanted: 'w',
  display: 'd',
  summary: 'S',
  file: 'i',
  report: 'R',
  end: 'X',
} as const;
export type FrameKind = keyof typeof KINDS;

const BY_BYTE = new Map(
  Object.entries(KINDS).map(([kind, letter]) => [letter.charCodeAt(0), kind as FrameKind]),
);

export function packFrame(kind: FrameKind, payload: string | Buffer = ''): Buffer {
  return packFrames([[kind, payload]]);
}

/** Packs frames that are sent together: each payload is copied once. */
export function packFrames(frames: readonly (readonly [FrameKind, string | Buffer])[]): Buffer {
  const total = frames.reduce((sum, [, payload]) => sum + HEAD + Buffer.byteLength(payload), 0);
  const packed = Buffer.allocUnsafe(total);
  let at = 0;
  for (const [kind, payload] of frames) {
    const body = at + HEAD;
    const length = typeof payload === 'string' ? packed.write(payload, body) : payload.copy(packed, body);
    packed.writeUInt32BE(length, at);
    packed.writeUInt8(KINDS[kind].charCodeAt(0), at + 4);
    at = body + length;
  }
  return packed;
}

/**
 * Collects chunks and emits whole frames in linear time, whether a chunk holds thousands of frames or a part of one.
 */
export class FrameParser {
  #chunks: Buffer[] = [];
  #size = 0;
  /** The bytes that the next frame, or its header, needs. */
  #needed = HEAD;

  constructor(private readonly onFrame: (kind: FrameKind, payload: Buffer) => void) {}

  feed(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) return;
    const data = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    const end = this.#handOut(data);
    this.#size = data.length - end;
    this.#chunks = this.#size > 0 ? [data.subarray(end)] : [];
  }

  /** Returns the end of the last whole frame. */
  #handOut(data: Buffer): number {
    for (let at = 0; ; ) {
      this.#needed = HEAD;
      if (data.length - at < HEAD) return at;
      const length = data.readUInt32BE(at);
      const kind = BY_BYTE.get(data[at + 4]!);
      if (kind === undefined || length > MAX_PAYLOAD)
        throw new Error(`not a frame: kind ${data[at + 4]}, ${length} bytes`);
      this.#needed = HEAD + length;
      if (data.length - at < this.#needed) return at;
      this.onFrame(kind, data.subarray(at + HEAD, at + this.#needed));
      at += HEAD + length;
    }
  }
}
