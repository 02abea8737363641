const NEWLINE = 10;

/** Takes a stream apart into lines, each kept only up to a bound. */
export class LineReader {
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: (bytes: number, beginning: string) => void;
  readonly #most: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(
    most: number,
    onLine: (line: string) => void,
    onTooLong: (bytes: number, beginning: string) => void,
  ) {
    this.#most = most;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  add(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      const line = this.rest();
      if (line !== '') this.#onLine(line);
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** What has no end yet. It is forgotten. */
  rest(): string {
    const whole = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return whole.toString('utf8').trimEnd();
  }

  #keep(part: Buffer): void {
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes > this.#most) {
      const bytes = this.#bytes;
      this.#onTooLong(bytes, this.rest());
    }
  }
}
