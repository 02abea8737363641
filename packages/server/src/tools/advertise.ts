import type { Tool as AdvertisedTool } from '@modelcontextprotocol/server';
import type { z } from 'zod';

const TARGET = { target: 'draft-2020-12' } as const;

/** The tool checks its arguments itself, to answer INVALID_INPUT in our own words. */
export const advertiseArguments = (schema: z.ZodType) =>
  compactArguments(schema['~standard'].jsonSchema.input(TARGET)) as AdvertisedTool['inputSchema'];

/**
 * What a tool answers is our own and typed: holding megabytes of a run's value against its schema would keep others waiting.
 * `open`: paths whose inner shape the listing leaves out, because few look there.
 */
export const advertiseResult = (schema: z.ZodType, open: readonly string[] = []) =>
  compactResult(schema['~standard'].jsonSchema.output(TARGET), open) as NonNullable<
    AdvertisedTool['outputSchema']
  >;

/** A JSON Schema as data. */
type Schema = Record<string, unknown>;
type Properties = Record<string, Schema>;

/*
 * Every client pays for the list of tools in each conversation, so a schema there holds what helps to write a call, or to read a
 * reply, and no more. What it leaves out still holds: calls and replies are checked against the whole schema.
 */

/** What is wrong with a value is said in a sentence when it comes; and MCP says itself which dialect its schemas are of. */
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

/** Names say what they hold, and the documentation the rest. That nothing may be added would tie later versions to these fields. */
const SAID_ELSEWHERE = ['description', 'additionalProperties', 'required'];

/** Names, types, choices, and a sentence for each. */
const compactArguments = (schema: Schema): Schema => compact(schema, CHECKED_LATER);

/**
 * Names, types and choices. `open` are paths, such as "verdict.exception", of which it is said only that they are objects, or
 * lists of them.
 */
function compactResult(schema: Schema, open: readonly string[] = []): Schema {
  const told = compact(schema, [...CHECKED_LATER, ...SAID_ELSEWHERE]);
  const opened = open.reduce((before, path) => openAt(before, path.split('.')), told);
  return { ...opened, required: schema['required'] };
}

function compact(node: Schema, without: readonly string[]): Schema {
  // The only schema that refers to itself is that of any JSON value.
  if ('$ref' in node) return {};
  const inner = (one: unknown) => compact(one as Schema, without);
  const { anyOf, oneOf, ...rest } = node;
  const told: Schema = {};
  for (const [key, value] of Object.entries(rest)) {
    if (key === 'properties') told[key] = mapValues(value as Properties, inner);
    else if (key === 'items') told[key] = inner(value);
    else if (key === 'additionalProperties' && isSchema(value)) Object.assign(told, mapOf(inner(value)));
    else if (!without.includes(key) && !isSafeBound(value)) told[key] = value;
  }
  if (anyOf !== undefined) Object.assign(told, orNull((anyOf as Schema[]).map(inner)));
  if (oneOf !== undefined) Object.assign(told, merge((oneOf as Schema[]).map(inner)));
  return told;
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

/** An object may hold anything, unless it is said what. */
const mapOf = (values: Schema): Schema =>
  Object.keys(values).length === 0 ? {} : { additionalProperties: values };

/** Zod says of every integer that it is one that JavaScript can hold. */
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

/** One object instead of many kinds of it: what tells them apart lists them all, and what only one of them has is left out. */
function merge(kinds: Schema[]): Schema {
  const shapes = kinds.map(({ properties }) => properties as Properties);
  const names = [...new Set(shapes.flatMap((shape) => Object.keys(shape)))];
  const properties: Properties = {};
  const required: string[] = [];
  for (const name of names) {
    const variants = shapes.map((shape) => shape[name]).filter((one) => one !== undefined);
    if (variants.length === 1) continue;
    const { const: value, enum: _, ...rest } = variants[0]!;
    const tellsApart = value !== undefined && variants.length === kinds.length;
    properties[name] = tellsApart ? { ...rest, enum: variants.map((one) => one['const']) } : rest;
    if (tellsApart) required.push(name);
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
