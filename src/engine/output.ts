import { StringDecoder } from 'node:string_decoder';
import type { Output } from '../contract/outcome.js';

const MAX_LINE = 64 * 1024;

/** Keeps the head and the tail of a stream, and tells its lines as they come. */
export class OutputBuffer {
  #head: Buffer[] = [];
  #headSize = 0;
  #tail: Buffer[] = [];
  #tailSize = 0;
  #bytes = 0;
  #lines: LineSplitter | undefined;

  constructor(
    private readonly limit: number,
    onLine?: (text: string) => void,
  ) {
    if (onLine) this.#lines = new LineSplitter(onLine);
  }

  write(data: Buffer): void {
    this.#bytes += data.length;
    this.#lines?.write(data);
    const half = Math.floor(this.limit / 2);
    const forHead = data.subarray(0, Math.max(0, half - this.#headSize));
    if (forHead.length > 0) {
      this.#head.push(forHead);
      this.#headSize += forHead.length;
    }
    const rest = data.subarray(forHead.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailSize += rest.length;
    while (this.#tailSize - this.#tail[0]!.length >= half) this.#tailSize -= this.#tail.shift()!.length;
  }

  finish(): Output {
    this.#lines?.finish();
    const half = Math.floor(this.limit / 2);
    const tail = Buffer.concat(this.#tail);
    const isTruncated = this.#headSize + tail.length < this.#bytes || tail.length > half;
    if (!isTruncated) return { text: decode([...this.#head, tail]), bytes: this.#bytes, truncated: false };
    const kept = tail.subarray(Math.max(0, tail.length - half));
    const left = this.#bytes - this.#headSize - kept.length;
    const text = `${decode(this.#head)}\n… ${left} bytes left out …\n${decode([kept])}`;
    return { text, bytes: this.#bytes, truncated: true };
  }
}

class LineSplitter {
  #decoder = new StringDecoder('utf8');
  #partial = '';

  constructor(private readonly onLine: (text: string) => void) {}

  write(data: Buffer): void {
    const lines = (this.#partial + this.#decoder.write(data)).split('\n');
    this.#partial = lines.pop()!;
    for (const line of lines) this.onLine(line);
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

/** Bytes that are not UTF-8 become U+FFFD. */
const decode = (chunks: Buffer[]): string => Buffer.concat(chunks).toString('utf8');
