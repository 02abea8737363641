import type { Tool as AdvertisedTool, ToolAnnotations } from '@modelcontextprotocol/server';
import type { z } from 'zod';

const TARGET = { target: 'draft-2020-12' } as const;

/*
 * Every client pays for the list of tools in each conversation, so it holds only what helps to write a call or to read a
 * reply. Calls are still checked against the whole schema.
 */

/**
 * Builds the advertised input schema: names, types, choices and descriptions. Tools check their arguments themselves, to
 * answer INVALID_INPUT in plain sentences. `hidden`: arguments that are accepted, but that no model needs.
 */
export function advertiseArguments(schema: z.ZodType, hidden: readonly string[] = []) {
  const { properties, ...rest } = compact(schema['~standard'].jsonSchema.input(TARGET));
  const shown = Object.entries(properties as Properties).filter(([name]) => !hidden.includes(name));
  return { ...rest, properties: Object.fromEntries(shown) } as unknown as AdvertisedTool['inputSchema'];
}

/** A JSON Schema as data. */
type Schema = Record<string, unknown>;
type Properties = Record<string, Schema>;

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
  'minimum',
  'exclusiveMinimum',
  'additionalProperties',
];

function compact(node: Schema): Schema {
  // The only schema that refers to itself is the one for any JSON value.
  if ('$ref' in node) return {};
  const inner = (one: unknown) => compact(one as Schema);
  const { anyOf, ...rest } = node;
  const compacted: Schema = {};
  for (const [key, value] of Object.entries(rest)) {
    if (key === 'properties') compacted[key] = mapValues(value as Properties, inner);
    else if (key === 'items') compacted[key] = inner(value);
    else if (key === 'additionalProperties' && isSchema(value)) Object.assign(compacted, mapOf(inner(value)));
    else if (!CHECKED_LATER.includes(key) && !isSafeBound(value)) compacted[key] = value;
  }
  return anyOf === undefined ? compacted : Object.assign(compacted, notNull((anyOf as Schema[]).map(inner)));
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

/** An object without a value schema may hold anything. */
const mapOf = (values: Schema): Schema =>
  Object.keys(values).length === 0 ? {} : { additionalProperties: values };

/** Zod adds the bounds of safe integers to every integer. */
const isSafeBound = (value: unknown) =>
  typeof value === 'number' && Math.abs(value) === Number.MAX_SAFE_INTEGER;

/** Where null means the same as no argument, it is accepted and not advertised. */
function notNull(schemas: Schema[]): Schema {
  const [schema, nothing] = schemas;
  return schemas.length === 2 && nothing?.['type'] === 'null' ? schema! : { anyOf: schemas };
}

const mapValues = (map: Properties, change: (one: Schema) => Schema): Properties =>
  Object.fromEntries(Object.entries(map).map(([key, one]) => [key, change(one)]));

/*
 * Annotations. What equals the default of the protocol is left out: readOnlyHint false, destructiveHint true, idempotentHint
 * false, openWorldHint true. For a tool that only reads, the others matter to nobody.
 */
export const READ_ONLY: ToolAnnotations = { readOnlyHint: true };
/** Changes or destroys something of the server; a repeated call changes nothing more. */
export const REPLACES: ToolAnnotations = { idempotentHint: true, openWorldHint: false };
/** Also downloads from the package index. */
export const CHANGES_PACKAGES: ToolAnnotations = { idempotentHint: true };
export const CREATES: ToolAnnotations = { destructiveHint: false };
