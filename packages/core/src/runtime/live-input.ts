import { createHash } from 'node:crypto';

const LARGEST_PIECE = 256 * 1024;
/** What is kept for the record, and for a run that is repeated. */
const MOST_KEPT = 256 * 1024;

/** Standard input that is read while the run goes on, and only as fast as the run reads it. */
export class LiveInput {
  readonly #source: AsyncIterator<Uint8Array | string>;
  #rest: Buffer = Buffer.alloc(0);
  #kept: Buffer[] | null = [];
  /** Pieces that were kept, for a run that begins again. */
  #again: Buffer[] = [];
  #bytes = 0;
  #hasEnded = false;
  readonly #hash = createHash('sha256');

  constructor(source: AsyncIterable<Uint8Array | string>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** A run begins to read: from the start if that was kept. */
  begin(): void {
    this.#again = [...(this.#kept ?? [])];
  }

  /** Returns the next piece, or null at the end. A source that fails has ended. */
  async next(): Promise<Buffer | null> {
    const again = this.#again.shift();
    if (again !== undefined) return again;
    while (this.#rest.length === 0) {
      const { done, value } = this.#hasEnded ? ENDED : await this.#source.next().catch(() => ENDED);
      this.#hasEnded = done === true;
      if (this.#hasEnded) return null;
      this.#rest = Buffer.from(value);
    }
    const piece = this.#rest.subarray(0, LARGEST_PIECE);
    this.#rest = this.#rest.subarray(piece.length);
    this.#note(piece);
    return piece;
  }

  #note(piece: Buffer): void {
    this.#bytes += piece.length;
    this.#hash.update(piece);
    if (this.#bytes > MOST_KEPT) this.#kept = null;
    this.#kept?.push(piece);
  }

  /** For the record: the text, or its size and hash where it is too large or not text. Only of what the run was given. */
  about(): { text: string } | { bytes: number; sha256: string } {
    const text = this.#kept && Buffer.concat(this.#kept);
    if (text && Buffer.from(text.toString()).equals(text)) return { text: text.toString() };
    return { bytes: this.#bytes, sha256: this.#hash.copy().digest('hex') };
  }
}

const ENDED = { done: true, value: undefined } as const;
