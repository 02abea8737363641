import { FRAME_HEAD_BYTES, type Frame, type FrameKind, readFrames } from '../protocol/frames.js';
import { WINDOW_BYTES } from '../protocol/timing.js';

interface Receiving {
  onFrame: (kind: FrameKind, payload: Buffer) => void;
  /** Called with the number of the next frame: while the worker waits for it, or after a time. */
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

/** What is held takes so much besides its bytes: otherwise a worker could send parts without content, which count nothing. */
const HELD_BYTES = 256;
/** Of these, only what is shown is kept. */
const PASSED_ON: ReadonlySet<FrameKind> = new Set(['stdout', 'stderr']);

/** Puts the frames of a run together: each once, in order. What is missing is sent again by the worker. */
export class FrameReceiver {
  #next = 0;
  #bytes = 0;
  #unacknowledged = 0;
  #parts: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(private readonly receiving: Receiving) {}

  /** The number of the next frame. */
  get next(): number {
    return this.#next;
  }

  receive(message: Buffer): void {
    for (const frame of readFrames(message)) if (!this.#receive(frame)) return;
  }

  /** Returns false if nothing more is to be received. */
  #receive(frame: Frame): boolean {
    if (frame.seq !== this.#next) {
      // Sent again: the acknowledgement was lost, or a frame before this one was.
      this.#ackSoon();
      return true;
    }
    const length = FRAME_HEAD_BYTES + frame.payload.length;
    this.#next += 1;
    this.#bytes += length;
    const isHeld = frame.goesOn || !PASSED_ON.has(frame.kind);
    const hasRoom = !isHeld || this.receiving.hold(HELD_BYTES + length);
    if (!hasRoom || this.#bytes > this.receiving.mostBytes) {
      this.receiving.onTooMuch();
      return false;
    }
    this.#unacknowledged += length;
    if (this.#unacknowledged >= ACK_BYTES) this.ack();
    else this.#ackSoon();
    // A view would keep its whole message, of which it may be the least.
    const held = isHeld ? Buffer.from(frame.payload) : frame.payload;
    this.#parts.push(held);
    if (frame.goesOn) return true;
    const payload = this.#parts.length === 1 ? held : Buffer.concat(this.#parts);
    this.#parts = [];
    this.receiving.onFrame(frame.kind, payload);
    return !this.#isStopped;
  }

  ack(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#unacknowledged = 0;
    this.receiving.ack(this.#next);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #ackSoon(): void {
    if (!this.#isStopped) this.#timer ??= setTimeout(() => this.ack(), ACK_MS);
  }
}
