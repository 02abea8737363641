import { similarName } from '@pungi/core/base';
import {
  Expected,
  FieldExpectation,
  Step,
  TestCase,
  TestSpecification,
  ValidationScript,
} from '@pungi/core/contract';
import { z } from 'zod';

type SchemaNode = Record<string, unknown>;

const TITLE = 'A test specification of Pungi';
const REFERENCE = {
  type: 'string',
  pattern: '^\\$\\{.+\\}$',
  description: `a reference to a value: \${name}, \${env:NAME} or \${name:-default}`,
};

/** Schemas used in several places, published once by name. */
const SHARED = { TestCase, Expected, FieldExpectation, Step, ValidationScript };
for (const [id, schema] of Object.entries(SHARED)) z.globalRegistry.add(schema, { id });

/**
 * The JSON Schema with which editors complete and check specifications: docs/spec.schema.json. It uses draft 7, which all
 * editors support. A reference may replace a number, a boolean or a choice.
 */
export function publishedSchema(): SchemaNode {
  const schema = z.toJSONSchema(TestSpecification, { target: 'draft-7', io: 'input' }) as SchemaNode;
  const { $schema, definitions, ...rest } = schema;
  return {
    $schema,
    title: TITLE,
    ...(withReferences(rest) as SchemaNode),
    definitions: { ...mapValues(definitions as SchemaNode, withReferences), reference: REFERENCE },
  };
}

const mapValues = (map: SchemaNode, change: (value: unknown) => unknown): SchemaNode =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));

function withReferences(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withReferences);
  if (typeof node !== 'object' || node === null) return node;
  // Draft identifiers and `propertyNames` do not help an editor.
  const { default: fallback, description, $id: _, propertyNames: __, ...inner } = node as SchemaNode;
  const annotations = {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
  };
  const isTyped = ['number', 'integer', 'boolean'].includes(String(inner['type'])) || 'enum' in inner;
  if (isTyped) return { ...annotations, anyOf: [inner, { $ref: '#/definitions/reference' }] };
  const { properties, ...others } = inner;
  const changed = mapValues(others, withReferences);
  if (properties === undefined) return { ...annotations, ...changed };
  return { ...annotations, ...changed, properties: mapValues(properties as SchemaNode, withReferences) };
}

let kept: SchemaNode | undefined;
const published = () => {
  kept ??= publishedSchema();
  return kept;
};

/** The schemas that apply at a path; several if there are alternatives. */
function schemasAt(path: readonly PropertyKey[]): SchemaNode[] {
  return path.reduce<SchemaNode[]>(
    (nodes, key) => nodes.flatMap((node) => below(node, key)).flatMap(alternatives),
    alternatives(published()),
  );
}

function alternatives(node: SchemaNode): SchemaNode[] {
  if (Array.isArray(node['anyOf'])) return (node['anyOf'] as SchemaNode[]).flatMap(alternatives);
  // draft 7 wraps a reference that has a description or a default
  if (Array.isArray(node['allOf'])) return (node['allOf'] as SchemaNode[]).flatMap(alternatives);
  if (typeof node['$ref'] !== 'string') return [node];
  const definitions = published()['definitions'] as Record<string, SchemaNode>;
  return alternatives(definitions[node['$ref'].slice('#/definitions/'.length)]!);
}

function below(node: SchemaNode, key: PropertyKey): SchemaNode[] {
  const properties = node['properties'] as Record<PropertyKey, SchemaNode> | undefined;
  if (properties !== undefined && Object.hasOwn(properties, key)) return [properties[key]!];
  const further = typeof key === 'number' ? node['items'] : node['additionalProperties'];
  return typeof further === 'object' && further !== null ? [further as SchemaNode] : [];
}

/** A longer name is not a typo, and comparison takes quadratic time. */
const LONGEST_NAME = 200;

/** Finds the known name that was probably meant: another spelling, or a similar one. */
export function meant(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const snake = name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
  if (known.includes(snake)) return snake;
  const longer = known.filter((one) => one.startsWith(`${snake}_`) || one.endsWith(`_${snake}`));
  return similarName(name, known) ?? (longer.length === 1 ? longer[0] : undefined);
}

export const didYouMean = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : `did you mean "${name}"?`;

/** Suggests the intended key, the map that it belongs to, or all known keys. */
export function suggestKey(path: readonly PropertyKey[]): string {
  const key = String(path.at(-1));
  const known = keysOf(schemasAt(path.slice(0, -1)));
  const close = didYouMean(meant(key, known));
  if (close !== undefined) return close;
  const owner = ownerOf(key, path);
  return owner === undefined ? `known: ${known.join(', ')}` : `it belongs in "${owner}"`;
}

const keysOf = (nodes: readonly SchemaNode[]): string[] =>
  nodes.flatMap((node) => Object.keys((node['properties'] as object | undefined) ?? {}));

/** Finds a sibling or outer map that has this key. */
function ownerOf(key: string, path: readonly PropertyKey[]): string | undefined {
  for (let length = path.length - 1; length >= 0; length -= 1) {
    const outer = path.slice(0, length);
    if (
      typeof outer.at(-1) === 'number' &&
      length < path.length - 2 &&
      keysOf(schemasAt(outer)).includes(key)
    )
      return undefined;
    const maps = keysOf(schemasAt(outer)).filter((name) => keysOf(schemasAt([...outer, name])).includes(key));
    const [first] = maps;
    if (first !== undefined) return first;
  }
  return undefined;
}

/** Suggests a similar choice. */
export function suggestValue(path: readonly PropertyKey[], given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined;
  const choices = schemasAt(path)
    .flatMap((node) => [...((node['enum'] as unknown[] | undefined) ?? []), node['const'] ?? []])
    .filter((choice) => typeof choice === 'string');
  return didYouMean(meant(given, choices));
}
