import { type Deferred, deferred } from '../deferred.js';
import { type FrameKind, joinFrames, MOST_PAYLOAD, packFrame, partsOf } from '../protocol/frames.js';
import { AGAIN_MS, WINDOW_BYTES } from '../protocol/timing.js';

/** A front end that is heard and acknowledges nothing for ten seconds waits for nothing: it has counted the run as lost. */
const MOST_UNANSWERED = 10_000 / AGAIN_MS;
/** Frames that come within this time, up to the end of the run, are one message. */
const GATHER_MS = 4;

/** Sends the frames of a run, each until it is acknowledged. */
export class FrameSender {
  /** Resolves when everything was acknowledged after `finish`, or nobody waits any more. */
  readonly done: Promise<void>;
  readonly #done = deferred<void>();
  readonly #unacknowledged: Buffer[] = [];
  readonly #again: NodeJS.Timeout;
  /** The number of the first frame that was not acknowledged. */
  #first = 0;
  /** How many of them were sent. */
  #sent = 0;
  /** The bytes of those that were not. */
  #gathered = 0;
  #gathering: NodeJS.Timeout | undefined;
  #bytes = 0;
  #room: Deferred<void> | undefined;
  #hasProgress = true;
  /** How often it was sent again in vain. */
  #unanswered = 0;
  #isFinished = false;
  #isDiscarding = false;

  constructor(private readonly publish: (message: Buffer) => void) {
    this.done = this.#done.promise;
    this.#again = setInterval(() => {
      this.#unanswered = this.#hasProgress ? 0 : this.#unanswered + 1;
      this.#hasProgress = false;
      if (this.#isFinished && this.#unanswered > MOST_UNANSWERED) this.stop();
      else if (this.#unanswered > 0) this.resend();
    }, AGAIN_MS);
  }

  /** Returns a promise while the front end has not acknowledged enough: the sender waits for it. */
  send(kind: FrameKind, payload: Buffer): undefined | Promise<void> {
    if (this.#isDiscarding && kind !== 'end') return undefined;
    const parts = partsOf(payload);
    for (const [index, part] of parts.entries()) {
      const seq = this.#first + this.#unacknowledged.length;
      const frame = packFrame({ kind, seq, goesOn: index < parts.length - 1, payload: part });
      this.#unacknowledged.push(frame);
      this.#bytes += frame.length;
      this.#gathered += frame.length;
      if (this.#gathered >= MOST_PAYLOAD) this.#flush();
    }
    if (kind === 'end' || kind === 'refused') this.#flush();
    else if (this.#gathered > 0) this.#gathering ??= setTimeout(() => this.#flush(), GATHER_MS);
    if (this.#bytes <= WINDOW_BYTES || kind === 'end') return undefined;
    this.#room ??= deferred<void>();
    return this.#room.promise;
  }

  /** Output of a run that was cancelled is of no use to anybody. */
  discard(): void {
    this.#isDiscarding = true;
    this.#giveRoom();
  }

  ack(next: number): void {
    const count = Math.min(next - this.#first, this.#unacknowledged.length);
    if (count <= 0) return;
    for (const frame of this.#unacknowledged.splice(0, count)) this.#bytes -= frame.length;
    this.#first += count;
    this.#sent = Math.max(0, this.#sent - count);
    this.#hasProgress = true;
    if (this.#bytes <= WINDOW_BYTES / 2) this.#giveRoom();
    this.#settle();
  }

  /** Sends again what was not acknowledged. */
  resend(): void {
    this.#sent = 0;
    this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#gathered = 0;
    for (const message of joinFrames(this.#unacknowledged.slice(this.#sent))) this.publish(message);
    this.#sent = this.#unacknowledged.length;
  }

  /** Nothing more follows. */
  finish(): void {
    this.#isFinished = true;
    this.#settle();
  }

  stop(): void {
    clearTimeout(this.#gathering);
    clearInterval(this.#again);
    this.discard();
    this.#done.resolve();
  }

  #settle(): void {
    if (this.#isFinished && this.#unacknowledged.length === 0) this.stop();
  }

  #giveRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}
