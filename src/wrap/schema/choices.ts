/** The values that a schema allows, made ready to be looked up: a list of thousands may be asked for each of thousands. */
export interface Choices {
  values: ReadonlySet<unknown>;
  /** Of those that are lists and objects, as JSON. */
  texts: ReadonlySet<string>;
  /** Of the others, by what a person would type. */
  byWords: ReadonlyMap<string, unknown>;
}

export function choicesOf(values: readonly unknown[]): Choices {
  const plain = values.filter((value) => typeof value !== 'object' || value === null);
  const others = values.filter((value) => typeof value === 'object' && value !== null);
  return {
    values: new Set(plain),
    texts: new Set(others.map((value) => JSON.stringify(value))),
    byWords: new Map(plain.toReversed().map((value) => [String(value), value])),
  };
}
