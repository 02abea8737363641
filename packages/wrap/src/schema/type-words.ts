import type { JsonSchema } from './parameters.js';

const TYPES: Record<string, string> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  null: 'nothing',
  object: 'object',
};

const FORMATS: Record<string, string> = {
  date: 'date',
  time: 'time',
  'date-time': 'date and time',
  duration: 'duration',
  path: 'path',
  uuid: 'UUID',
  base64: 'bytes in base64',
  binary: 'bytes',
  uri: 'address',
  email: 'e-mail address',
};

/** Alternatives and values that are named before the rest is only counted. */
const MOST_NAMED = 6;
const DEEPEST = 4;
/** Schemas that are looked at: references may lead to the same ones again and again. */
const MOST_STEPS = 500;

/** What a JSON Schema wants, for people: "list of whole numbers" is said as "list of whole number". */
export const typeWords = (schema: unknown, definitions: unknown = {}): string =>
  wordsOf(schema, { definitions, left: MOST_STEPS }, 0);

interface Look {
  definitions: unknown;
  /** Steps. */
  left: number;
}

function wordsOf(schema: unknown, look: Look, depth: number): string {
  if (typeof schema !== 'object' || schema === null) return 'anything';
  const { $ref, const: only, enum: values, anyOf, oneOf, type, format } = schema as JsonSchema;
  const inner = (one: unknown) => {
    look.left -= 1;
    return depth < DEEPEST && look.left > 0 ? wordsOf(one, look, depth + 1) : '…';
  };
  if (typeof $ref === 'string') return referenceWords($ref, look.definitions, inner);
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return choice(values, (value) => JSON.stringify(value));
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) return choice([...new Set(alternatives.map(inner))]);
  if (Array.isArray(type)) return choice(type, (one) => inner({ ...schema, type: one }));
  if (type === 'array') return arrayWords(schema as JsonSchema, inner);
  if (type === 'object') return objectWords(schema as JsonSchema, inner);
  return FORMATS[String(format)] ?? TYPES[String(type)] ?? 'anything';
}

const WITHOUT = /^(true|false|nothing|anything|…|\W|\d|an? )/;

/** The same in a sentence: "a whole number or a text". Names that the script gives stay as they are. */
export function withArticles(words: string): string {
  // What is in brackets belongs to what stands before them.
  const parts = words.includes('(') ? [words] : words.split(' or ');
  const articled = parts.map((part) => {
    if (WITHOUT.test(part) || /^\p{Lu}(?!UID)/u.test(part)) return part;
    return `${/^[aeio]/.test(part) ? 'an' : 'a'} ${part}`;
  });
  return articled.join(' or ');
}

function referenceWords(ref: string, definitions: unknown, inner: (one: unknown) => string): string {
  const name = ref.split('/').at(-1)!;
  const target = (definitions as Record<string, unknown> | null)?.[name];
  const { type, enum: values } = (target ?? {}) as JsonSchema;
  if (Array.isArray(values)) return inner(target);
  return type === undefined || type === 'object' ? name : inner(target);
}

function arrayWords(
  { items, prefixItems, uniqueItems }: JsonSchema,
  inner: (one: unknown) => string,
): string {
  if (Array.isArray(prefixItems)) return `[${prefixItems.map(inner).join(', ')}]`;
  const kind = uniqueItems === true ? 'set' : 'list';
  return items === undefined || items === true ? kind : `${kind} of ${bracketed(inner(items))}`;
}

function objectWords({ title, additionalProperties }: JsonSchema, inner: (one: unknown) => string): string {
  if (typeof title === 'string') return title;
  const isMap = typeof additionalProperties === 'object' && additionalProperties !== null;
  return isMap ? `object of ${bracketed(inner(additionalProperties))}` : 'object';
}

const bracketed = (words: string) => (words.includes(' or ') ? `(${words})` : words);

function choice<T>(of: readonly T[], wordOf: (one: T) => string = String): string {
  const named = of.slice(0, MOST_NAMED).map(wordOf).join(' or ');
  return of.length <= MOST_NAMED ? named : `${named} or ${of.length - MOST_NAMED} more`;
}
