import type { Tool as AdvertisedTool } from '@modelcontextprotocol/server';
import type { z } from 'zod';

const TARGET = { target: 'draft-2020-12' } as const;

/**
 * Builds the advertised input schema. Tools check their arguments themselves, to answer INVALID_INPUT in
 * plain sentences.
 */
export const advertiseArguments = (schema: z.ZodType) =>
  compactArguments(schema['~standard'].jsonSchema.input(TARGET)) as AdvertisedTool['inputSchema'];

/**
 * Builds the advertised output schema. Results are typed and not checked against it at run time: checking megabytes would
 * delay other calls. `open`: paths whose inner shape the listing leaves out, because clients rarely use it.
 */
export const advertiseResult = (schema: z.ZodType, open: readonly string[] = []) =>
  compactResult(schema['~standard'].jsonSchema.output(TARGET), open) as NonNullable<
    AdvertisedTool['outputSchema']
  >;

/** A JSON Schema as data. */
type Schema = Record<string, unknown>;
type Properties = Record<string, Schema>;

/*
 * Every client pays for the list of tools in each conversation, so an advertised schema holds only what helps to write a call
 * or to read a reply. Calls and replies are still checked against the whole schema.
 */

/** Keys left out because the call itself reports these problems; MCP defines the schema dialect. */
const CHECKED_LATER = [
  '$schema',
  '$defs',
  'propertyNames',
  'pattern',
  'format',
  'contentEncoding',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'exclusiveMinimum',
];

/**
 * Keys left out because names are clear and documented elsewhere. `additionalProperties: false` would forbid
 * later additions.
 */
const DOCUMENTED_ELSEWHERE = ['description', 'additionalProperties', 'required'];

/** Keeps names, types, choices and descriptions. */
const compactArguments = (schema: Schema): Schema => compact(schema, CHECKED_LATER);

/**
 * Keeps names, types and choices. `open` lists paths, such as "verdict.exception", that are reduced to an object or a list of
 * objects.
 */
function compactResult(schema: Schema, open: readonly string[] = []): Schema {
  const compacted = compact(schema, [...CHECKED_LATER, ...DOCUMENTED_ELSEWHERE]);
  const opened = open.reduce((before, path) => openAt(before, path.split('.')), compacted);
  return { ...opened, required: schema['required'] };
}

function compact(node: Schema, without: readonly string[]): Schema {
  // The only schema that refers to itself is the one for any JSON value.
  if ('$ref' in node) return {};
  const inner = (one: unknown) => compact(one as Schema, without);
  const { anyOf, oneOf, ...rest } = node;
  const compacted: Schema = {};
  for (const [key, value] of Object.entries(rest)) {
    if (key === 'properties') compacted[key] = mapValues(value as Properties, inner);
    else if (key === 'items') compacted[key] = inner(value);
    else if (key === 'additionalProperties' && isSchema(value)) Object.assign(compacted, mapOf(inner(value)));
    else if (!without.includes(key) && !isSafeBound(value)) compacted[key] = value;
  }
  if (anyOf !== undefined) Object.assign(compacted, orNull((anyOf as Schema[]).map(inner)));
  if (oneOf !== undefined) Object.assign(compacted, merge((oneOf as Schema[]).map(inner)));
  return compacted;
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

/** An object without a value schema may hold anything. */
const mapOf = (values: Schema): Schema =>
  Object.keys(values).length === 0 ? {} : { additionalProperties: values };

/** Zod adds the bounds of safe integers to every integer. */
const isSafeBound = (value: unknown) =>
  typeof value === 'number' && Math.abs(value) === Number.MAX_SAFE_INTEGER;

/** `{type: ["string", "null"]}` instead of two schemas to choose from. */
function orNull(schemas: Schema[]): Schema {
  const [schema, nothing] = schemas;
  if (schemas.length !== 2 || nothing?.['type'] !== 'null' || typeof schema?.['type'] !== 'string')
    return { anyOf: schemas };
  const { type, enum: choices, ...rest } = schema;
  return { type: [type, 'null'], ...rest, ...(Array.isArray(choices) && { enum: [...choices, null] }) };
}

/**
 * Merges a union of objects into one: the discriminator lists all variants, and fields of a single variant
 * are left out.
 */
function merge(kinds: Schema[]): Schema {
  const shapes = kinds.map(({ properties }) => properties as Properties);
  const names = [...new Set(shapes.flatMap((shape) => Object.keys(shape)))];
  const properties: Properties = {};
  const required: string[] = [];
  for (const name of names) {
    const variants = shapes.map((shape) => shape[name]).filter((one) => one !== undefined);
    if (variants.length === 1) continue;
    const { const: value, enum: _, ...rest } = variants[0]!;
    const isDiscriminator = value !== undefined && variants.length === kinds.length;
    properties[name] = isDiscriminator ? { ...rest, enum: variants.map((one) => one['const']) } : rest;
    if (isDiscriminator) required.push(name);
  }
  return { type: 'object', properties, required };
}

function openAt(node: Schema, path: readonly string[]): Schema {
  const { type, items, properties } = node;
  const [name, ...rest] = path;
  if (name === undefined) return type === 'array' ? { type, items: { type: 'object' } } : { type };
  if (type === 'array') return { ...node, items: openAt(items as Schema, path) };
  const all = properties as Properties;
  return { ...node, properties: { ...all, [name]: openAt(all[name]!, rest) } };
}

const mapValues = (map: Properties, change: (one: Schema) => Schema): Properties =>
  Object.fromEntries(Object.entries(map).map(([key, one]) => [key, change(one)]));
