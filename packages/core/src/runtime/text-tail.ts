import { StringDecoder } from 'node:string_decoder';

const MOST_CHARACTERS = 64 * 1024;

/** The tail of a text stream of any length. A mark taken at some time returns what came after it. */
export class TextTail {
  readonly #decoder = new StringDecoder('utf8');
  #kept = '';
  /** The number of characters in total. */
  #total = 0;

  add(chunk: Buffer): void {
    const text = this.#decoder.write(chunk);
    this.#total += text.length;
    this.#kept += text;
    // Not at every chunk, which would copy a flood of small ones again and again.
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
