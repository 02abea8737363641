import { StringDecoder } from 'node:string_decoder';
import type { Output } from '../contract/outcome.js';

const MAX_LINE = 64 * 1024;
const EMPTY = Buffer.alloc(0);

/** Keeps the head and the tail of a stream, and reports its lines as they arrive. Every byte is handled once. */
export class OutputBuffer {
  readonly #head = new Blocks();
  readonly #tail = new Blocks();
  readonly #half: number;
  #bytes = 0;
  #lines: LineSplitter | undefined;

  constructor(limit: number, onLine?: (text: string) => void) {
    this.#half = Math.floor(limit / 2);
    if (onLine) this.#lines = new LineSplitter(onLine);
  }

  write(data: Buffer): void {
    this.#bytes += data.length;
    this.#lines?.write(data);
    const room = this.#half - this.#head.size;
    if (data.length <= room) {
      this.#head.add(data);
      return;
    }
    const forHead = data.subarray(0, Math.max(0, room));
    this.#head.add(forHead);
    this.#tail.add(data.subarray(forHead.length));
    this.#tail.dropAllBut(this.#half);
  }

  get bytes(): number {
    return this.#bytes;
  }

  finish(): Output {
    this.#lines?.finish();
    if (this.#bytes === 0) return { text: '', bytes: 0, truncated: false };
    const { head, marker, tail } = this.#kept();
    // Bytes that are not UTF-8 become U+FFFD.
    const text = `${head.toString('utf8')}${marker}${tail.toString('utf8')}`;
    return { text, bytes: this.#bytes, truncated: marker !== '' };
  }

  /** Converts places in bytes, in ascending order, to places in the text. A place in what was left out is after the marker. */
  placesOf(bytes: readonly number[]): number[] {
    if (bytes.length === 0) return [];
    const { head, marker, tail } = this.#kept();
    const inHead = new CharacterCounter(head);
    const inTail = new CharacterCounter(tail);
    const tailFrom = this.#bytes - tail.length;
    return bytes.map((at) =>
      at <= head.length
        ? inHead.countUntil(at)
        : inHead.countUntil(head.length) + marker.length + inTail.countUntil(Math.max(0, at - tailFrom)),
    );
  }

  /** All bytes as head, or head and tail around a marker. */
  #kept(): { head: Buffer; marker: string; tail: Buffer } {
    const head = this.#head.join();
    if (head.length === this.#bytes) return { head, marker: '', tail: EMPTY };
    const tail = this.#tail.join();
    const isTruncated = head.length + tail.length < this.#bytes || tail.length > this.#half;
    if (!isTruncated)
      return { head: tail.length === 0 ? head : Buffer.concat([head, tail]), marker: '', tail: EMPTY };
    const start = untilWholeCharacter(head);
    const end = fromWholeCharacter(tail.subarray(Math.max(0, tail.length - this.#half)));
    const left = this.#bytes - start.length - end.length;
    return { head: start, marker: `\n… ${left} bytes left out …\n`, tail: end };
  }
}

/** Counts characters up to ascending places. */
class CharacterCounter {
  #decoder = new StringDecoder('utf8');
  #at = 0;
  #count = 0;

  constructor(private readonly data: Buffer) {}

  countUntil(at: number): number {
    this.#count += this.#decoder.write(this.data.subarray(this.#at, at)).length;
    this.#at = Math.max(this.#at, at);
    return this.#count;
  }
}

/**
 * Larger chunks are kept as they are; smaller ones are copied together, so that a million of them become a few
 * blocks.
 */
const LARGE_PIECE = 16 * 1024;
const SMALLEST_BLOCK = 256;
const LARGEST_BLOCK = 64 * 1024;

/** Bytes in order of arrival. */
class Blocks {
  #blocks: Buffer[] = [];
  /** Buffer for the next small chunks; its first bytes are the last block. */
  #open = EMPTY;
  #used = 0;
  #nextSize = SMALLEST_BLOCK;
  size = 0;

  add(data: Buffer): void {
    this.size += data.length;
    if (data.length >= LARGE_PIECE) {
      this.#close();
      this.#blocks.push(data);
      return;
    }
    for (let at = 0; at < data.length; ) {
      if (this.#used === this.#open.length) this.#reopen();
      const copied = data.copy(this.#open, this.#used, at);
      this.#used += copied;
      at += copied;
    }
  }

  /** Drops whole blocks from the front while at least this many bytes remain. */
  dropAllBut(bytes: number): void {
    while (this.#blocks.length > 0 && this.size - this.#blocks[0]!.length >= bytes)
      this.size -= this.#blocks.shift()!.length;
  }

  join(): Buffer {
    const last = this.#open.subarray(0, this.#used);
    return this.#blocks.length === 0 ? last : Buffer.concat([...this.#blocks, last]);
  }

  #reopen(): void {
    this.#close();
    this.#open = Buffer.allocUnsafe(this.#nextSize);
    this.#nextSize = Math.min(2 * this.#nextSize, LARGEST_BLOCK);
  }

  #close(): void {
    if (this.#used > 0) this.#blocks.push(this.#open.subarray(0, this.#used));
    this.#open = EMPTY;
    this.#used = 0;
  }
}

class LineSplitter {
  #decoder = new StringDecoder('utf8');
  #partial = '';

  constructor(private readonly onLine: (text: string) => void) {}

  /** Searches only new data for line breaks: a long line may arrive in tens of thousands of chunks. */
  write(data: Buffer): void {
    const text = this.#decoder.write(data);
    let from = 0;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      this.onLine(this.#partial + text.slice(from, at));
      this.#partial = '';
      from = at + 1;
    }
    this.#partial += text.slice(from);
    if (this.#partial.length > MAX_LINE) this.#flush();
  }

  finish(): void {
    this.#partial += this.#decoder.end();
    if (this.#partial !== '') this.#flush();
  }

  #flush(): void {
    const line = this.#partial;
    this.#partial = '';
    this.onLine(line);
  }
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** Drops the first bytes of a character whose rest was cut off. */
function untilWholeCharacter(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start >= 0 && bytes.length - start < 4 && isContinuation(bytes[start])) start -= 1;
  const lead = bytes[start] ?? 0;
  const needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start >= 0 && bytes.length - start < needed ? bytes.subarray(0, start) : bytes;
}

/** Drops the last bytes of a character whose beginning was cut off. */
function fromWholeCharacter(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}
