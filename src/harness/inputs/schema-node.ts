import { isMap, type JsonMap } from '../judge/answer.js';
import { jsonEqual } from '../judge/json-equal.js';

const MOST_REFERENCES = 20;

/** The schema that a reference inside of the same document leads to; a map of rules in any case. */
export function nodeOf(schema: unknown, root: unknown): JsonMap {
  let node = schema;
  for (
    let count = 0;
    isMap(node) && typeof node['$ref'] === 'string' && count < MOST_REFERENCES;
    count += 1
  ) {
    const { $ref, ...beside } = node;
    const found = lookUp(String($ref), root);
    node = isMap(found) ? { ...found, ...beside } : beside;
  }
  return isMap(node) ? merged(node, root) : {};
}

function lookUp(reference: string, root: unknown): unknown {
  if (!reference.startsWith('#')) return undefined;
  let found = root;
  for (const part of reference.slice(1).split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found = isMap(found) || Array.isArray(found) ? (found as JsonMap)[key] : undefined;
  }
  return found;
}

/** What all of `allOf` say, as one. */
function merged(node: JsonMap, root: unknown): JsonMap {
  const { allOf, ...own } = node;
  if (!Array.isArray(allOf)) return node;
  return together([own, ...allOf.map((part) => nodeOf(part, root))]);
}

/** What is said first has the last word, but that properties and what is required add up. */
function together(nodes: readonly JsonMap[]): JsonMap {
  const backwards = nodes.toReversed();
  const properties: JsonMap = Object.assign({}, ...backwards.map((node) => mapIn(node, 'properties')));
  const required = [...new Set(nodes.flatMap((node) => listIn(node, 'required')))];
  return {
    ...Object.assign({}, ...backwards),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  };
}

export const mapIn = (node: JsonMap, key: string): JsonMap =>
  isMap(node[key]) ? (node[key] as JsonMap) : {};
export const listIn = (node: JsonMap, key: string): unknown[] =>
  Array.isArray(node[key]) ? (node[key] as unknown[]) : [];
export const numberIn = (node: JsonMap, key: string): number | undefined =>
  typeof node[key] === 'number' ? (node[key] as number) : undefined;

/** The types that a value may have. Where none is named, they follow from what else is. */
export function typesOf(node: JsonMap): string[] {
  const { type } = node;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type) && type.length > 0) return type.map(String);
  if ('properties' in node || 'required' in node) return ['object'];
  if ('items' in node || 'prefixItems' in node) return ['array'];
  if ('minimum' in node || 'maximum' in node) return ['number'];
  return ['string'];
}

/** Alternatives of which a value follows one. */
export const optionsOf = (node: JsonMap): unknown[] => [...listIn(node, 'anyOf'), ...listIn(node, 'oneOf')];

/** An alternative, with what holds beside it. */
export function withOption(node: JsonMap, option: unknown, root: unknown): JsonMap {
  const { anyOf: _, oneOf: __, ...beside } = node;
  return together([nodeOf(option, root), beside]);
}

/** The values that a schema names, where it names any. */
export function namedValues(node: JsonMap): unknown[] {
  if ('const' in node) return [node['const']];
  return listIn(node, 'enum').filter(
    (one, index, all) => all.findIndex((other) => jsonEqual(one, other)) === index,
  );
}

const A_LITTLE = 1e-3;

/** The smallest and the largest number that are allowed, as nearly as can be said where they themselves are not. */
export function boundsOf(
  node: JsonMap,
  isWhole: boolean,
): Record<'least' | 'most' | 'step', number | undefined> {
  const beside = isWhole ? 1 : A_LITTLE;
  const above = numberIn(node, 'exclusiveMinimum');
  const below = numberIn(node, 'exclusiveMaximum');
  return {
    least: numberIn(node, 'minimum') ?? (above === undefined ? undefined : above + beside),
    most: numberIn(node, 'maximum') ?? (below === undefined ? undefined : below - beside),
    step: numberIn(node, 'multipleOf'),
  };
}
