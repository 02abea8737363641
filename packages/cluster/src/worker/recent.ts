/** Remembers the newest texts, up to a number. */
export class Recent {
  readonly #texts = new Set<string>();

  constructor(private readonly most: number) {}

  has(text: string): boolean {
    return this.#texts.has(text);
  }

  /** Returns whether it is new. */
  add(text: string): boolean {
    if (this.#texts.has(text)) return false;
    this.#texts.add(text);
    if (this.#texts.size > this.most) this.#texts.delete(this.#texts.values().next().value!);
    return true;
  }
}
