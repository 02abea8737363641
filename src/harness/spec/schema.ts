import { z } from 'zod';
import {
  Expected,
  FieldExpectation,
  Step,
  TestCase,
  TestSpecification,
  ValidationScript,
} from '../../contract/spec.js';

export type SchemaNode = Record<string, unknown>;

const TITLE = 'A test specification of Pungi';
const REFERENCE = {
  type: 'string',
  pattern: '^\\$\\{.+\\}$',
  description: `stands for a value: \${name}, \${env:NAME} or \${name:-default}`,
};

/** What stands at several places is written once, under a name. */
const SHARED = { TestCase, Expected, FieldExpectation, Step, ValidationScript };
for (const [id, schema] of Object.entries(SHARED)) z.globalRegistry.add(schema, { id });

/**
 * The JSON Schema that editors complete and check specifications with: docs/spec.schema.json. Draft 7 is the one that
 * all of them know. Where a number, a truth value or a choice is expected, a reference may stand for it.
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
  // The names of the draft's identifiers, and that keys are texts, say nothing that an editor needs.
  const { default: fallback, description, $id: _, propertyNames: __, ...inner } = node as SchemaNode;
  const told = {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
  };
  const isTyped = ['number', 'integer', 'boolean'].includes(String(inner['type'])) || 'enum' in inner;
  if (isTyped) return { ...told, anyOf: [inner, { $ref: '#/definitions/reference' }] };
  const { properties, ...others } = inner;
  const changed = mapValues(others, withReferences);
  if (properties === undefined) return { ...told, ...changed };
  return { ...told, ...changed, properties: mapValues(properties as SchemaNode, withReferences) };
}

let kept: SchemaNode | undefined;
const published = () => {
  kept ??= publishedSchema();
  return kept;
};

/** What may stand at a path of a specification; several where there are alternatives. */
export function schemasAt(path: readonly PropertyKey[]): SchemaNode[] {
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
