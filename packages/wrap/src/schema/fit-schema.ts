import { similarName } from '@pungi/core/base';
import { isOfKind, isRecord, type JsonSchema, targetOf, turnedInto } from './parameters.js';
import { typeWords, withArticles } from './type-words.js';

interface Fitted {
  value: unknown;
  /** One sentence for each place that does not fit, which begins with the place. */
  issues: string[];
}

/**
 * Whether a value fits a schema, where Pungi itself has to know: the arguments of a command line, and results. A schema and
 * a value may be made to be looked at forever, so patterns are left to others, and after many steps the rest is taken
 * to fit.
 */
export function fitSchema(schema: JsonSchema, value: unknown, { isLax = false } = {}): Fitted {
  const fitter = new Fitter(schema);
  const fitted = fitter.fit(schema, value, '', isLax, 0);
  return { value: fitted, issues: fitter.issues };
}

const MOST_ISSUES = 20;
const MOST_STEPS = 200_000;
/** So many characters, or so many entries, are looked at in the time of one step. */
const STEP = { characters: 100, entries: 10 };
const DEEPEST = 200;

class Fitter {
  issues: string[] = [];
  #steps = 0;
  /** One of several choices is tried: nobody will read why it does not fit, so its first issue is enough. */
  #isTrying = false;
  readonly #targets = new Map<string, unknown>();
  readonly #choices = new WeakMap<JsonSchema, Choices | null>();

  constructor(private readonly root: JsonSchema) {}

  fit(schema: unknown, value: unknown, place: string, isLax: boolean, depth: number): unknown {
    this.#steps += 1;
    if (schema === false) this.#unfit(place, () => 'must not be given');
    if (!isRecord(schema) || depth > DEEPEST || this.#isOver()) return value;
    let fitted = value;
    for (const part of this.#partsOf(schema)) fitted = this.fit(part, fitted, place, isLax, depth + 1);
    for (const options of [schema['anyOf'], schema['oneOf']]) {
      if (Array.isArray(options)) fitted = this.#fitAny(schema, options, fitted, place, isLax, depth);
    }
    const kinds = [schema['type']].flat().filter((kind) => typeof kind === 'string');
    this.#steps += kinds.length / STEP.entries;
    if (kinds.length > 0 && !kinds.some((kind) => isOfKind(fitted, kind))) {
      const turned = isLax ? this.#turned(fitted, kinds) : undefined;
      if (turned === undefined) return this.#unfit(place, () => this.#wanted(schema, fitted), fitted);
      fitted = turned;
    }
    const choices = this.#choicesOf(schema);
    if (choices !== null && !this.#isAmong(choices, fitted)) {
      if (!isLax || typeof fitted !== 'string' || !choices.byWords.has(fitted))
        return this.#unfit(place, () => this.#wanted(schema, fitted), fitted);
      fitted = choices.byWords.get(fitted);
    }
    if (typeof fitted === 'number') this.#fitNumber(schema, fitted, place);
    if (typeof fitted === 'string') this.#fitLength(schema, fitted, place);
    if (Array.isArray(fitted)) return this.#fitList(schema, fitted, place, isLax, depth);
    return isRecord(fitted) ? this.#fitObject(schema, fitted, place, isLax, depth) : fitted;
  }

  /** The first that fits as it is, else the first that fits at all: "10" stays a text where a text will do. */
  #fitAny(
    schema: JsonSchema,
    options: unknown[],
    value: unknown,
    place: string,
    isLax: boolean,
    depth: number,
  ): unknown {
    const [before, wasTrying] = [this.issues, this.#isTrying];
    this.#isTrying = true;
    try {
      for (const lax of isLax ? [false, true] : [false]) {
        for (const option of options) {
          this.issues = [];
          const fitted = this.fit(option, value, place, lax, depth + 1);
          if (this.issues.length === 0) return fitted;
        }
      }
    } finally {
      this.issues = before;
      this.#isTrying = wasTrying;
    }
    return this.#unfit(place, () => this.#wanted({ anyOf: options, ...schema }, value), value);
  }

  #fitList(schema: JsonSchema, values: unknown[], place: string, isLax: boolean, depth: number): unknown[] {
    this.#steps += values.length / STEP.entries;
    this.#fitCount(schema, 'Items', values.length, 'items', place);
    const first = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : [];
    return values.map((value, index) => {
      if (this.#isOver()) return value;
      const each = index < first.length ? first[index] : (schema['items'] ?? true);
      return this.fit(each, value, join(place, index), isLax, depth + 1);
    });
  }

  #fitObject(
    schema: JsonSchema,
    values: JsonSchema,
    place: string,
    isLax: boolean,
    depth: number,
  ): JsonSchema {
    const properties = isRecord(schema['properties']) ? schema['properties'] : {};
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    const given = Object.entries(values);
    this.#steps += (required.length + given.length) / STEP.entries;
    for (const name of required) {
      if (typeof name !== 'string' || Object.hasOwn(values, name)) continue;
      this.#unfit(join(place, name), () => `is missing; it must be ${this.#words(properties[name])}`);
    }
    const entries = given.map(([name, value]) => {
      if (this.#isOver()) return [name, value];
      const isKnown = Object.hasOwn(properties, name);
      const each = isKnown ? properties[name] : (schema['additionalProperties'] ?? true);
      if (isKnown || each !== false)
        return [name, this.fit(each, value, join(place, name), isLax, depth + 1)];
      this.#unfit(join(place, name), () => notKnown(name, Object.keys(properties)));
      return [name, value];
    });
    return Object.fromEntries(entries) as JsonSchema;
  }

  #fitNumber(schema: JsonSchema, value: number, place: string): void {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema as Record<string, unknown>;
    const say = (words: string) => this.#unfit(place, () => `expected ${words}, got ${describe(value)}`);
    if (typeof minimum === 'number' && value < minimum) say(`at least ${minimum}`);
    if (typeof maximum === 'number' && value > maximum) say(`at most ${maximum}`);
    if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
      say(`more than ${exclusiveMinimum}`);
    if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
      say(`less than ${exclusiveMaximum}`);
  }

  /** A character is one or two units, so most texts need not be counted. */
  #fitLength(schema: JsonSchema, text: string, place: string): void {
    const { minLength: least, maxLength: most } = schema as Record<string, unknown>;
    const isEnough = typeof least !== 'number' || text.length / 2 >= least;
    const isFew = typeof most !== 'number' || text.length <= most;
    if (isEnough && isFew) return;
    this.#steps += text.length / STEP.characters;
    this.#fitCount(schema, 'Length', countCharacters(text), 'characters', place);
  }

  #fitCount(schema: JsonSchema, of: 'Length' | 'Items', count: number, what: string, place: string): void {
    const [least, most] = [schema[`min${of}`], schema[`max${of}`]];
    if (typeof least === 'number' && count < least)
      this.#unfit(place, () => `expected at least ${least} ${what}, got ${count}`);
    if (typeof most === 'number' && count > most)
      this.#unfit(place, () => `expected at most ${most} ${what}, got ${count}`);
  }

  #turned(value: unknown, kinds: readonly string[]): unknown {
    if (typeof value !== 'string') return undefined;
    this.#steps += value.length / STEP.characters;
    return turnedInto(value, kinds);
  }

  /** The values that a schema allows, made ready to be looked up; null: any. */
  #choicesOf(schema: JsonSchema): Choices | null {
    const known = this.#choices.get(schema);
    if (known !== undefined) return known;
    const { enum: several, const: one } = schema as { enum?: unknown; const?: unknown };
    const values = Array.isArray(several) ? several : 'const' in schema ? [one] : null;
    const choices = values === null ? null : choicesOf(values);
    this.#choices.set(schema, choices);
    return choices;
  }

  #isAmong({ values, texts }: Choices, value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return values.has(value);
    if (texts.size === 0) return false;
    const text = JSON.stringify(value);
    this.#steps += text.length / STEP.characters;
    return texts.has(text);
  }

  #partsOf(schema: JsonSchema): unknown[] {
    const { $ref, allOf } = schema as { $ref?: unknown; allOf?: unknown };
    return [
      ...(typeof $ref === 'string' ? [this.#target($ref)] : []),
      ...(Array.isArray(allOf) ? allOf : []),
    ];
  }

  #target(reference: string): unknown {
    if (!this.#targets.has(reference)) this.#targets.set(reference, targetOf(this.root, reference));
    return this.#targets.get(reference);
  }

  #wanted = (schema: JsonSchema, value: unknown) => `expected ${this.#words(schema)}, got ${describe(value)}`;
  #words = (schema: unknown) => withArticles(typeWords(schema, this.root['$defs']));

  /** Nothing that comes now would change what is said. */
  #isOver = () => this.#steps > MOST_STEPS || this.issues.length >= (this.#isTrying ? 1 : MOST_ISSUES);

  #unfit<T>(place: string, reason: () => string, value?: T): T {
    if (this.issues.length >= MOST_ISSUES) return value as T;
    const words = this.#isTrying ? '' : reason();
    this.issues.push(place === '' ? words : `${place}: ${words}`);
    return value as T;
  }
}

function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

const join = (place: string, part: string | number) =>
  (place === '' ? String(part) : `${place}.${part}`).slice(-200);

const LONGEST_SHOWN = 60;
const cut = (text: string) => (text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}…`);

function describe(value: unknown): string {
  if (typeof value === 'string') return `the text ${JSON.stringify(cut(value))}`;
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (!isRecord(value)) return cut(String(JSON.stringify(value)));
  const keys = Object.keys(value).slice(0, 5);
  return keys.length === 0 ? 'an empty object' : `an object with ${cut(keys.join(', '))}`;
}

/** Comparing names takes its time, and nobody means the thousandth. */
const MOST_COMPARED = 300;

function notKnown(name: string, known: readonly string[]): string {
  const similar = similarName(cut(name), known.slice(0, MOST_COMPARED));
  if (similar !== undefined) return `is not known; do you mean "${similar}"?`;
  return `is not known; there are ${known.slice(0, MOST_ISSUES).join(', ') || 'none'}`;
}

/** The values that a schema allows, made ready to be looked up: a list of thousands may be asked for each of thousands. */
interface Choices {
  values: ReadonlySet<unknown>;
  /** Of those that are lists and objects, as JSON. */
  texts: ReadonlySet<string>;
  /** Of the others, by what a person would type. */
  byWords: ReadonlyMap<string, unknown>;
}

function choicesOf(values: readonly unknown[]): Choices {
  const plain = values.filter((value) => typeof value !== 'object' || value === null);
  const others = values.filter((value) => typeof value === 'object' && value !== null);
  return {
    values: new Set(plain),
    texts: new Set(others.map((value) => JSON.stringify(value))),
    byWords: new Map(plain.toReversed().map((value) => [String(value), value])),
  };
}
