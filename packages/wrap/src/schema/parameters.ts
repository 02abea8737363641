import type { ObjectSchema } from '@pungi/core/contract';

export type JsonSchema = Record<string, unknown>;

export interface Parameter {
  name: string;
  schema: JsonSchema;
  isRequired: boolean;
  description: string;
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The properties of a schema. A person may have edited it, so nothing of its inside is taken for granted. */
export function propertiesOf(schema: ObjectSchema): [name: string, schema: JsonSchema][] {
  const { properties } = schema;
  if (!isSchema(properties)) return [];
  return Object.entries(properties).map(([name, one]) => [name, isSchema(one) ? one : {}]);
}

export function parametersOf(schema: ObjectSchema): Parameter[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return propertiesOf(schema).map(([name, one]) => ({
    name,
    schema: one,
    isRequired: required.includes(name),
    description: descriptionOf(one) ?? '',
  }));
}

export const descriptionOf = ({ description }: JsonSchema): string | undefined =>
  typeof description === 'string' ? description : undefined;

/** The descriptions that parameters have. */
export const describedParameters = (schema: ObjectSchema): Record<string, string> =>
  Object.fromEntries(
    propertiesOf(schema).flatMap(([name, one]) => {
      const description = descriptionOf(one);
      return description === undefined ? [] : [[name, description]];
    }),
  );

export const isRecord = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function isOfKind(value: unknown, kind: string): boolean {
  if (kind === 'integer') return Number.isInteger(value);
  if (kind === 'array') return Array.isArray(value);
  if (kind === 'null') return value === null;
  return kind === 'object' ? isRecord(value) : typeof value === kind;
}

const NUMBER = /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i;
const LONGEST_NUMBER = 100;

/** What a text stands for where something else is wanted; undefined: it is nothing of the kind. */
export function turnedInto(value: string, kinds: readonly string[]): unknown {
  const text = value.trim();
  const wantsNumber = kinds.includes('integer') || kinds.includes('number');
  if (wantsNumber && text.length <= LONGEST_NUMBER && NUMBER.test(text)) {
    return kinds.some((kind) => isOfKind(Number(text), kind)) ? Number(text) : undefined;
  }
  if (kinds.includes('boolean') && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (!kinds.includes('array') && !kinds.includes('object')) return undefined;
  try {
    const decoded: unknown = JSON.parse(text);
    return kinds.some((kind) => ['array', 'object'].includes(kind) && isOfKind(decoded, kind))
      ? decoded
      : undefined;
  } catch {
    return undefined;
  }
}

/** The place in a schema that a reference such as "#/$defs/Point" leads to; true, which allows anything, where that is none. */
export function targetOf(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith('#')) return true;
  const parts = reference
    .slice(1)
    .split('/')
    .filter((part) => part !== '');
  return parts
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, part) => (isRecord(at) && Object.hasOwn(at, part) ? at[part] : true), root);
}
