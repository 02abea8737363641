/** Takes a stream of server-sent events apart into the data of each, kept only up to a bound. */
export class EventReader {
  readonly #most: number;
  readonly #onData: (data: string) => void;
  readonly #decoder = new TextDecoder();
  #rest = '';
  #data: string[] = [];
  #length = 0;

  constructor(most: number, onData: (data: string) => void) {
    this.#most = most;
    this.#onData = onData;
  }

  add(chunk: Buffer): void {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) this.#take(line.replace(/\r$/, ''));
    if (this.#rest.length > this.#most) this.#rest = '';
  }

  #take(line: string): void {
    if (line === '') {
      if (this.#data.length > 0 && this.#length <= this.#most) this.#onData(this.#data.join('\n'));
      this.#data = [];
      this.#length = 0;
    }
    if (!line.startsWith('data:')) return;
    this.#length += line.length;
    if (this.#length <= this.#most) this.#data.push(line.slice('data:'.length).replace(/^ /, ''));
  }
}
