import { StringDecoder } from 'node:string_decoder';

const MOST_CHARACTERS = 64 * 1024;

/** The end of a stream of text that may be endless. A mark taken at some time gives what came after it. */
export class LastWords {
  readonly #decoder = new StringDecoder('utf8');
  #kept = '';
  /** How much came in all. */
  #total = 0;

  add(chunk: Buffer): void {
    const text = this.#decoder.write(chunk);
    this.#total += text.length;
    this.#kept += text;
    // Not at every chunk, or a flood of small ones would be copied again and again.
    if (this.#kept.length > 2 * MOST_CHARACTERS) this.#kept = this.#kept.slice(-MOST_CHARACTERS);
  }

  mark(): number {
    return this.#total;
  }

  since(mark: number): string {
    const wanted = this.#total - mark;
    const kept = this.#kept.slice(-MOST_CHARACTERS);
    if (wanted <= 0) return '';
    if (wanted <= kept.length) return kept.slice(-wanted);
    return `… (${wanted - kept.length} characters before this)\n${kept}`;
  }
}
