import { isMap, type JsonMap } from '../judge/answer.js';
import { escapeReferences, fallbackValue, piecesOf, type Reference } from './reference.js';

/** Keys that are known before any test runs, independent of answers. */
export const PLANNED_KEYS = ['name', 'description', 'tags', 'skip', 'only', 'dependencies', 'depends_on'];
/** Nothing is substituted into code, or into definitions of variables. */
export const VERBATIM_KEYS = ['validation_scripts', 'matrix', 'variables'];
const PATTERN_KEYS = ['pattern', 'text_pattern', 'error_message_pattern'];
const TEXT_KEYS = [
  'name',
  'description',
  'tags',
  'path',
  'text_contains',
  'text_not_contains',
  'error_message_contains',
];

/** Captured text is literal inside a pattern. */
const quote = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

function optionsAt(key: string): Partial<SubstituteOptions> {
  if (PATTERN_KEYS.includes(key)) return { quote, asText: true };
  return TEXT_KEYS.includes(key) ? { asText: true } : {};
}

type Change = (key: string, value: unknown) => unknown;

/**
 * Replaces the references of a test, raw or parsed. References in its Python (validation scripts, expressions) stay: code gets
 * variables as values.
 */
export function resolveTest<T extends object>(
  test: T,
  scope: Scope,
  options: SubstituteOptions,
  verbatim: readonly string[] = VERBATIM_KEYS,
): Substituted<T> {
  const missing: Reference[] = [];
  const put = (value: unknown, more: Partial<SubstituteOptions> = {}): unknown => {
    const done = substitute(value, scope, { ...options, ...more });
    missing.push(...done.missing);
    return done.value;
  };
  const inField: Change = (key, value) => put(value, optionsAt(key));
  const inExpected: Change = (key, value) => {
    if (key === 'expression') return value;
    if (key === 'fields' && Array.isArray(value))
      return same(
        value,
        value.map((field) => (isMap(field) ? changed(field, inField) : put(field))),
      );
    return put(value, optionsAt(key));
  };
  const inTest: Change = (key, value) => {
    if (verbatim.includes(key)) return value;
    if (key === 'expected' && isMap(value)) return changed(value, inExpected);
    return put(
      value,
      PLANNED_KEYS.includes(key) ? { ...optionsAt(key), isLast: true, later: new Set() } : {},
    );
  };
  return { value: changed(test as JsonMap, inTest) as T, missing };
}

/** Returns the same map if nothing changes: compiled schemas are cached by identity. */
function changed(map: JsonMap, change: Change): JsonMap {
  const entries = Object.entries(map).map(([key, value]) => [key, change(key, value)] as const);
  return entries.every(([key, value]) => value === map[key]) ? map : Object.fromEntries(entries);
}

const same = <T>(before: T[], after: T[]): T[] =>
  after.every((item, index) => item === before[index]) ? before : after;

/** The values of references. */
export interface Scope {
  /** Values by the author, nearest first. They may contain references themselves. */
  variables: readonly Readonly<Record<string, unknown>>[];
  /** Values from servers. They are taken literally: an answer that contains ${env:TOKEN} gets no token. */
  captured: Readonly<Record<string, unknown>>;
  environment: Readonly<Record<string, string | undefined>>;
}

export interface Substituted<T> {
  value: T;
  /** References without a value, as written; they stay in the text. */
  missing: Reference[];
}

interface SubstituteOptions {
  /** False if another substitution follows: $${…} and accidental references must then stay escaped. */
  isLast: boolean;
  /** Names that only a later substitution knows; such references stay, even with a default. */
  later?: ReadonlySet<string>;
  /** True where only text is allowed: a number becomes text. */
  asText?: boolean;
  /** Escapes a captured value for its surroundings, such as a pattern. */
  quote?: (text: string) => string;
}

/** Limits for the expansion of variables: total size, and length of a chain. */
const MOST_CHARACTERS = 4 * 1024 * 1024;
const MOST_VALUES = 200_000;
const MAX_CHAIN = 100;

/** Nested variables can grow exponentially. */
export class TooMuchText extends Error {
  constructor(reference: string) {
    const what = `${MOST_CHARACTERS / 1024 ** 2} MB, ${MOST_VALUES} values or ${MAX_CHAIN} nested variables`;
    super(`expands to more than ${what}, through ${reference}`);
  }
}

/**
 * Replaces references in every text of a value. A reference that is the whole text keeps the type of its value. A value without
 * references is returned itself, not a copy. Throws TooMuchText.
 */
export function substitute<T>(value: T, scope: Scope, options: SubstituteOptions): Substituted<T> {
  const missing: Reference[] = [];
  const replaced = new Substitution(scope, options, missing).of(value, []);
  return { value: replaced as T, missing };
}

class Substitution {
  readonly #scope: Scope;
  readonly #isLast: boolean;
  readonly #asText: boolean;
  readonly #later: ReadonlySet<string>;
  readonly #quote: (text: string) => string;
  readonly #missing: Reference[];
  #characters = MOST_CHARACTERS;
  #values = MOST_VALUES;

  constructor(scope: Scope, options: SubstituteOptions, missing: Reference[]) {
    this.#scope = scope;
    this.#isLast = options.isLast;
    this.#asText = options.asText ?? false;
    this.#later = options.later ?? new Set();
    this.#quote = options.quote ?? ((text) => text);
    this.#missing = missing;
  }

  /** `within` lists the variables that are being expanded. */
  of(value: unknown, within: readonly string[]): unknown {
    if (within.length > 0) this.#spend(0, within[0]!);
    if (typeof value === 'string') return value.includes('${') ? this.#text(value, within) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.of(item, within));
      return items.every((item, index) => item === value[index]) ? value : items;
    }
    const entries = Object.entries(value).map(([key, item]) => [key, this.of(item, within)] as const);
    const isSame = entries.every(([key, item]) => item === (value as Record<string, unknown>)[key]);
    return isSame ? value : Object.fromEntries(entries);
  }

  #text(text: string, within: readonly string[]): unknown {
    const pieces = piecesOf(text);
    const [only] = pieces;
    if (pieces.length === 1 && only?.reference !== undefined && !this.#asText) {
      const found = this.#lookUp(only.reference, within);
      if (found !== undefined) return found.value;
      return only.reference.fallback === undefined ? text : fallbackValue(only.reference.fallback);
    }
    return pieces
      .map(({ reference, text: written, isEscaped }) => {
        if (isEscaped) return this.#isLast ? written.slice(1) : written;
        if (reference === undefined) return written;
        const found = this.#lookUp(reference, within);
        if (found === undefined) return reference.fallback ?? written;
        const inText = typeof found.value === 'string' ? found.value : JSON.stringify(found.value);
        this.#spend(inText.length, reference.name);
        return found.isCaptured ? this.#quote(inText) : inText;
      })
      .join('');
  }

  #lookUp(
    reference: Reference,
    within: readonly string[],
  ): { value: unknown; isCaptured?: boolean } | undefined {
    const { name, isEnvironment, fallback } = reference;
    const { variables, captured, environment } = this.#scope;
    const given = isEnvironment ? environment[name] : undefined;
    if (given !== undefined) return { value: this.#verbatim(given) };
    if (!isEnvironment) {
      const answered = valueIn(captured, name);
      if (answered !== undefined) return { value: this.#verbatim(answered.value), isCaptured: true };
      for (const map of variables) {
        if (within.length > MAX_CHAIN) throw new TooMuchText(`\${${within[0]}}`);
        const found = within.includes(name) ? undefined : valueIn(map, name);
        if (found !== undefined) return { value: this.of(found.value, [...within, name]) };
      }
      if (this.#later.has(rootOf(name))) return { value: reference.text };
    }
    if (fallback === undefined) this.#missing.push(reference);
    return undefined;
  }

  #spend(characters: number, name: string): void {
    this.#characters -= characters;
    this.#values -= 1;
    if (this.#characters < 0 || this.#values < 0) throw new TooMuchText(`\${${name}}`);
  }

  /** Escapes text that another substitution must not take for a reference. */
  #verbatim(value: unknown): unknown {
    if (this.#isLast) return value;
    if (typeof value === 'string') return escapeReferences(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.#verbatim(item));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#verbatim(item)]));
  }
}

/** ${user.name} is a part of the variable user. */
export const rootOf = (name: string): string => name.split('.', 1)[0]!;

/** Looks up a value by its whole name, else part by part in maps and lists. */
export function valueIn(
  map: Readonly<Record<string, unknown>>,
  name: string,
): { value: unknown } | undefined {
  if (Object.hasOwn(map, name)) return { value: map[name] };
  let value: unknown = map;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return { value };
}
