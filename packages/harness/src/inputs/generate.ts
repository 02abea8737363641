import type { JsonMap } from '../judge/answer.js';
import {
  boundsOf,
  listIn,
  mapIn,
  namedValues,
  nodeOf,
  numberIn,
  optionsOf,
  typesOf,
  withOption,
} from './schema-node.js';

/** A text for each common format of JSON Schema. */
export const FORMATS: Record<string, string> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  'uri-reference': '/page',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
};

const DEEPEST = 6;
const MOST_ITEMS = 5;
/** Limits for values of any schema, which could otherwise be gigabytes. */
export const MOST_NODES = 10_000;
export const MOST_LISTED = 5000;
export const MOST_CHARACTERS = 100_000;

/** Texts that most schemas allow, and many programs do not expect. */
const TEXTS = [
  '',
  ' ',
  'a',
  'text',
  'null',
  'undefined',
  '0',
  '-1',
  'true',
  '[]',
  '{}',
  '../../etc/passwd',
  '/dev/null',
  'C:\\con',
  '%s%n%d',
  '`id`',
  '$(id)',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  'line\nline\r\n\tend',
  'nul\u0000inside',
  '\u202Ereversed',
  'ÄÖÜ ß é',
  '漢字かな',
  '👩‍👩‍👧‍👦',
  '\uD800',
  '__proto__',
  'constructor',
  'x'.repeat(10_000),
];
const NUMBERS = [
  0,
  -0,
  1,
  -1,
  2,
  10,
  100,
  255,
  65_536,
  2 ** 31,
  -(2 ** 31),
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
];
const FRACTIONS = [0.1, -0.5, 1e-9, 1e21, 1e308, -1e308, 5e-324];

/** Generates an unusual value that the schema allows, as far as can be known without validation. */
export const generate = (schema: unknown, random: Random): unknown =>
  new Generation(schema, random).of(schema, 0);

class Generation {
  readonly #root: unknown;
  readonly #random: Random;
  #left = MOST_NODES;

  constructor(root: unknown, random: Random) {
    this.#root = root;
    this.#random = random;
  }

  of(schema: unknown, depth: number): unknown {
    this.#left -= 1;
    // A schema that requires itself has no value.
    if (this.#left < 0 || depth > 4 * DEEPEST) return null;
    const random = this.#random;
    const node = nodeOf(schema, this.#root);
    const named = namedValues(node);
    if (named.length > 0) return random.pick(named);
    const given = [...listIn(node, 'examples'), ...('default' in node ? [node['default']] : [])];
    if (given.length > 0 && random.isHit(0.2)) return random.pick(given);
    const options = optionsOf(node);
    if (options.length > 0 && depth < 2 * DEEPEST)
      return this.of(withOption(node, random.pick(options), this.#root), depth + 1);
    const type = random.pick(typesOf(node));
    if (type === 'object') return this.#object(node, depth);
    if (type === 'array') return this.#array(node, depth);
    if (type === 'boolean') return random.isHit(0.5);
    if (type === 'null') return null;
    return type === 'string' ? this.#text(node) : this.#number(node, type === 'integer');
  }

  #object(node: JsonMap, depth: number): JsonMap {
    const properties = mapIn(node, 'properties');
    const required = listIn(node, 'required').slice(0, MOST_LISTED).map(String);
    const isRequired = new Set(required);
    const optional = Object.keys(properties)
      .filter((name) => !isRequired.has(name))
      .slice(0, MOST_LISTED);
    const chosen = depth > DEEPEST ? [] : optional.filter(() => this.#random.isHit(0.5));
    const entries = [...required, ...chosen].map((name) => [
      name,
      this.of(properties[name] ?? {}, depth + 1),
    ]);
    const more = node['additionalProperties'];
    if (typeof more === 'object' && more !== null && depth <= DEEPEST)
      for (let count = this.#random.between(0, 2); count > 0; count -= 1)
        entries.push([this.#random.pick(TEXTS.slice(1, 12)), this.of(more, depth + 1)]);
    return Object.fromEntries(entries);
  }

  #array(node: JsonMap, depth: number): unknown[] {
    const first = listIn(node, 'prefixItems')
      .slice(0, MOST_LISTED)
      .map((item) => this.of(item, depth + 1));
    const least = Math.min(numberIn(node, 'minItems') ?? 0, MOST_LISTED);
    const most =
      depth > DEEPEST ? least : Math.max(least, Math.min(numberIn(node, 'maxItems') ?? MOST_ITEMS, 50));
    const count = Math.max(0, this.#random.between(least, most) - first.length);
    const more = node['items'] === false ? 0 : count;
    return [...first, ...Array.from({ length: more }, () => this.of(node['items'] ?? {}, depth + 1))];
  }

  #text(node: JsonMap): string {
    const random = this.#random;
    const { format } = node;
    const formatted = typeof format === 'string' ? FORMATS[format] : undefined;
    if (formatted !== undefined && random.isHit(0.7)) return formatted;
    const least = Math.min(numberIn(node, 'minLength') ?? 0, MOST_CHARACTERS);
    const most = numberIn(node, 'maxLength') ?? Number.POSITIVE_INFINITY;
    return random.pick(TEXTS).padEnd(least, 'x').slice(0, most);
  }

  #number(node: JsonMap, isWhole: boolean): number {
    const random = this.#random;
    const { least, most, step } = boundsOf(node, isWhole);
    const edges = [least, most, least && least + 1, most && most - 1].filter((one) => one !== undefined);
    const all = [...(isWhole ? NUMBERS : [...NUMBERS, ...FRACTIONS]), ...edges, ...edges];
    const fitting = all.filter(
      (one) => (least === undefined || one >= least) && (most === undefined || one <= most),
    );
    const value =
      fitting.length > 0 && random.isHit(0.8)
        ? random.pick(fitting)
        : random.between(Math.ceil(least ?? -1000), Math.floor(most ?? 1000));
    if (step === undefined) return isWhole ? Math.round(value) : value;
    const stepped = Math.round(value / step) * step;
    return least !== undefined && stepped < least ? Math.ceil(least / step) * step : stepped;
  }
}

/** Pseudo-random numbers: the same seed gives the same sequence. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 up to, but not including, 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Returns a whole number; both ends are included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  isHit(chance: number): boolean {
    return this.next() < chance;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.between(0, items.length - 1)]!;
  }
}
