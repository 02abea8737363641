/** Frames on a stream: four bytes of length, one byte of kind, then the payload. python/pungi/frames.py is the other end. */
const HEAD = 5;
/** Above anything a supervisor sends; a longer frame means that the stream is not ours. */
const MAX_PAYLOAD = 64 * 1024 * 1024;

export const KINDS = {
  limits: 'L',
  job: 'J',
  cancel: 'C',
  warmUp: 'W',
  hello: 'H',
  parked: 'P',
  failed: 'F',
  stdout: 'o',
  stderr: 'e',
  summary: 'S',
  report: 'R',
  end: 'X',
} as const;
export type FrameKind = keyof typeof KINDS;

const BY_BYTE = new Map(
  Object.entries(KINDS).map(([kind, letter]) => [letter.charCodeAt(0), kind as FrameKind]),
);

export function packFrame(kind: FrameKind, payload: string | Buffer = ''): Buffer {
  const body = typeof payload === 'string' ? Buffer.from(payload) : payload;
  const frame = Buffer.allocUnsafe(HEAD + body.length);
  frame.writeUInt32BE(body.length, 0);
  frame.writeUInt8(KINDS[kind].charCodeAt(0), 4);
  body.copy(frame, HEAD);
  return frame;
}

/** Collects chunks and hands out whole frames. */
export class FrameParser {
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(private readonly onFrame: (kind: FrameKind, payload: Buffer) => void) {}

  feed(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    while (this.#size >= HEAD) {
      const first = this.#chunks[0]!;
      const head = first.length >= HEAD ? first : this.#join();
      const length = head.readUInt32BE(0);
      const kind = BY_BYTE.get(head[4]!);
      if (kind === undefined || length > MAX_PAYLOAD)
        throw new Error(`not a frame: kind ${head[4]}, ${length} bytes`);
      if (this.#size < HEAD + length) return;
      const whole = this.#join();
      const rest = whole.subarray(HEAD + length);
      this.#chunks = rest.length > 0 ? [rest] : [];
      this.#size = rest.length;
      this.onFrame(kind, whole.subarray(HEAD, HEAD + length));
    }
  }

  #join(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0]!;
  }
}
