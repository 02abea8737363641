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
    while (this.#tail.length > 0 && this.#tailSize - this.#tail[0]!.length >= half)
      this.#tailSize -= this.#tail.shift()!.length;
  }

  finish(): Output {
    this.#lines?.finish();
    const half = Math.floor(this.limit / 2);
    const tail = Buffer.concat(this.#tail);
    const isTruncated = this.#headSize + tail.length < this.#bytes || tail.length > half;
    if (!isTruncated) return { text: decode([...this.#head, tail]), bytes: this.#bytes, truncated: false };
    const head = untilWholeCharacter(Buffer.concat(this.#head));
    const kept = fromWholeCharacter(tail.subarray(Math.max(0, tail.length - half)));
    const left = this.#bytes - head.length - kept.length;
    const text = `${decode([head])}\n… ${left} bytes left out …\n${decode([kept])}`;
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

/** Bytes that are not UTF-8 become U+FFFD. */
const decode = (chunks: Buffer[]): string => Buffer.concat(chunks).toString('utf8');
