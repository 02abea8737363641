import { type FrameKind, readFrame } from '../protocol/frames.js';
import { WINDOW_BYTES } from '../protocol/timing.js';

interface Receiving {
  onFrame: (kind: FrameKind, payload: Buffer) => void;
  /** Called with the number of the next frame. */
  ack: (next: number) => void;
  /** Called once there is more than `mostBytes`, or than can be held. */
  onTooMuch: () => void;
  mostBytes: number;
  /** Returns whether so much more can be held until the run has ended. */
  hold: (bytes: number) => boolean;
}

/** Frames are acknowledged after a part of the window, or after this. */
const ACK_BYTES = WINDOW_BYTES / 4;
const ACK_MS = 150;

/** Of these, only what is shown is kept. */
const PASSED_ON: ReadonlySet<FrameKind> = new Set(['stdout', 'stderr']);

/** Puts the frames of a run together: each once, in order. What is missing is sent again by the worker. */
export class FrameReceiver {
  #next = 0;
  #bytes = 0;
  #unacknowledged = 0;
  #parts: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly receiving: Receiving) {}

  /** The number of the next frame. */
  get next(): number {
    return this.#next;
  }

  receive(message: Buffer): void {
    const frame = readFrame(message);
    if (frame === undefined) return;
    if (frame.seq !== this.#next) {
      // Sent again: the acknowledgement was lost, or a frame before this one was.
      this.#ackSoon();
      return;
    }
    this.#next += 1;
    this.#bytes += message.length;
    const isHeld = frame.goesOn || !PASSED_ON.has(frame.kind);
    const hasRoom = !isHeld || this.receiving.hold(message.length);
    if (!hasRoom || this.#bytes > this.receiving.mostBytes) {
      this.receiving.onTooMuch();
      return;
    }
    this.#unacknowledged += message.length;
    if (this.#unacknowledged >= ACK_BYTES) this.ack();
    else this.#ackSoon();
    this.#parts.push(frame.payload);
    if (frame.goesOn) return;
    const payload = this.#parts.length === 1 ? frame.payload : Buffer.concat(this.#parts);
    this.#parts = [];
    this.receiving.onFrame(frame.kind, payload);
  }

  ack(): void {
    this.stop();
    this.#unacknowledged = 0;
    this.receiving.ack(this.#next);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #ackSoon(): void {
    this.#timer ??= setTimeout(() => this.ack(), ACK_MS);
  }
}
