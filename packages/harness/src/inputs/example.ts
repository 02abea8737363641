import { isMap, type JsonMap, withinTime } from '../judge/answer.js';
import { compileSchema, isDear, type JsonSchema } from '../judge/schema.js';
import { FORMATS, generate, MOST_CHARACTERS, MOST_LISTED, MOST_NODES, Random } from './generate.js';
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

const DEEPEST = 8;
const TRIES = 200;

/** The time limit per schema, for all attempts. */
const MAX_MS = 3000;
const MAX_MS_EACH = 300;

const found = new WeakMap<object, { input: JsonMap | undefined }>();

/** Finds the smallest, plainest input that the schema allows; undefined if none is found. */
export function exampleInput(schema: unknown): JsonMap | undefined {
  if (!isMap(schema)) return findInput(schema);
  const known = found.get(schema) ?? { input: findInput(schema) };
  found.set(schema, known);
  return known.input === undefined ? undefined : structuredClone(known.input);
}

function findInput(schema: unknown): JsonMap | undefined {
  const allows = allowedBy(schema);
  const plain = new Example(schema).of(schema, 0);
  if (isMap(plain) && allows(plain)) return plain;
  const random = new Random(1);
  const begun = performance.now();
  for (let count = 0; count < TRIES && performance.now() - begun < MAX_MS; count += 1) {
    const input = generate(schema, random);
    if (isMap(input) && allows(input)) return input;
  }
  return undefined;
}

/**
 * Returns a function that checks values against a schema. An invalid schema allows everything; so does one whose check takes
 * too long, as with some patterns.
 */
export function allowedBy(schema: unknown): (value: unknown) => boolean {
  if (!isMap(schema) && typeof schema !== 'boolean') return () => true;
  try {
    const validate = compileSchema(schema as JsonSchema, false);
    return isDear(schema) ? withTimeLimit(validate) : (value) => validate(value) === true;
  } catch {
    return () => true;
  }
}

function withTimeLimit(validate: (value: unknown) => unknown): (value: unknown) => boolean {
  let isUnusable = false;
  return (value) => {
    let isAllowed = true;
    const work = () => {
      try {
        isAllowed = validate(value) === true;
      } catch {
        // Its references form a cycle.
        isUnusable = true;
      }
    };
    if (!isUnusable) isUnusable = !withinTime(MAX_MS_EACH, work) || isUnusable;
    return isUnusable || isAllowed;
  };
}

class Example {
  readonly #root: unknown;
  #left = MOST_NODES;

  constructor(root: unknown) {
    this.#root = root;
  }

  of(schema: unknown, depth: number): unknown {
    this.#left -= 1;
    if (this.#left < 0) return null;
    const root = this.#root;
    const node = nodeOf(schema, root);
    const [named] = namedValues(node);
    if (named !== undefined) return named;
    const [given] = [...listIn(node, 'examples'), ...('default' in node ? [node['default']] : [])];
    if (given !== undefined) return given;
    const options = depth > 2 * DEEPEST ? [] : optionsOf(node);
    const option = options.find((one) => !typesOf(nodeOf(one, root)).includes('null')) ?? options[0];
    if (option !== undefined) return this.of(withOption(node, option, root), depth + 1);
    const types = typesOf(node);
    const type = types.find((one) => one !== 'null') ?? 'null';
    if (type === 'object') return this.#object(node, depth);
    if (type === 'array') return this.#array(node, depth);
    if (type === 'boolean') return false;
    if (type === 'null') return null;
    return type === 'string' ? exampleText(node) : exampleNumber(node, type === 'integer');
  }

  /** Only required properties. */
  #object(node: JsonMap, depth: number): JsonMap {
    if (depth > DEEPEST) return {};
    const properties = mapIn(node, 'properties');
    const names = listIn(node, 'required').slice(0, MOST_LISTED).map(String);
    return Object.fromEntries(names.map((name) => [name, this.of(properties[name] ?? {}, depth + 1)]));
  }

  #array(node: JsonMap, depth: number): unknown[] {
    if (depth > DEEPEST) return [];
    const first = listIn(node, 'prefixItems')
      .slice(0, MOST_LISTED)
      .map((item) => this.of(item, depth + 1));
    const least = Math.min(numberIn(node, 'minItems') ?? 1, MOST_LISTED);
    const wanted = Math.min(least, numberIn(node, 'maxItems') ?? least);
    const more = Math.max(0, wanted - first.length);
    return [...first, ...Array.from({ length: more }, () => this.of(node['items'] ?? {}, depth + 1))];
  }
}

function exampleText(node: JsonMap): string {
  const { format } = node;
  const text = (typeof format === 'string' ? FORMATS[format] : undefined) ?? 'text';
  const longest = numberIn(node, 'maxLength') ?? Number.POSITIVE_INFINITY;
  const shortest = Math.min(numberIn(node, 'minLength') ?? 0, MOST_CHARACTERS);
  return text.padEnd(shortest, 'text').slice(0, longest);
}

function exampleNumber(node: JsonMap, isWhole: boolean): number {
  const { least, most, step } = boundsOf(node, isWhole);
  const plain = Math.max(least ?? 1, step ?? 1);
  const value = most === undefined ? plain : Math.min(plain, most);
  return step === undefined ? value : Math.ceil(value / step) * step;
}
