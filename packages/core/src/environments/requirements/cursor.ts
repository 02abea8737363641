/** Why a text is invalid; the caller adds which text it was. */
export class Misfit extends Error {}

/** A position in a text that is read from left to right. */
export class Cursor {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns what a sticky pattern matches here, after white space. */
  take(pattern: RegExp): string | undefined {
    this.skipSpace();
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  skipSpace(): void {
    while (this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t') this.#at += 1;
  }

  get rest(): string {
    return this.#text.slice(this.#at).trim();
  }
}
