import { isMap, type JsonMap } from '../judge/answer.js';

const MOST_REFERENCES = 20;
/** The limit for nested `allOf` parts: they may refer to each other, or to themselves. */
const MOST_PARTS = 200;
const MOST_NAMED = 1000;

/** Resolves references within the document; always returns a map. */
export const nodeOf = (schema: unknown, root: unknown): JsonMap => partOf(schema, root, { left: MOST_PARTS });

function partOf(schema: unknown, root: unknown, parts: { left: number }): JsonMap {
  let node = schema;
  for (
    let count = 0;
    isMap(node) && typeof node['$ref'] === 'string' && count < MOST_REFERENCES;
    count += 1
  ) {
    const { $ref, ...siblings } = node;
    const found = lookUp(String($ref), root);
    node = isMap(found) ? { ...found, ...siblings } : siblings;
  }
  return isMap(node) ? merged(node, root, parts) : {};
}

function lookUp(reference: string, root: unknown): unknown {
  if (!reference.startsWith('#')) return undefined;
  let found = root;
  for (const part of reference.slice(1).split('/').slice(1)) {
    const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as JsonMap)[key];
  }
  return found;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Merges all parts of `allOf` into one. */
function merged(node: JsonMap, root: unknown, parts: { left: number }): JsonMap {
  const { allOf, ...own } = node;
  if (!Array.isArray(allOf)) return node;
  const inside: JsonMap[] = [];
  for (const part of allOf) {
    if (parts.left <= 0) break;
    parts.left -= 1;
    inside.push(partOf(part, root, parts));
  }
  return together([own, ...inside]);
}

/** Earlier nodes override later ones; properties and required names are combined. */
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

/** The types that a value may have. If none is named, they follow from other keywords. */
export function typesOf(node: JsonMap): string[] {
  const { type } = node;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type) && type.length > 0) return type.map(String);
  if ('properties' in node || 'required' in node) return ['object'];
  if ('items' in node || 'prefixItems' in node) return ['array'];
  if ('minimum' in node || 'maximum' in node) return ['number'];
  return ['string'];
}

/** The alternatives of anyOf and oneOf. */
export const optionsOf = (node: JsonMap): unknown[] => [...listIn(node, 'anyOf'), ...listIn(node, 'oneOf')];

/** Combines an alternative with its sibling keywords. */
export function withOption(node: JsonMap, option: unknown, root: unknown): JsonMap {
  const { anyOf: _, oneOf: __, ...siblings } = node;
  return together([nodeOf(option, root), siblings]);
}

/** The values of const or enum; only the first ones if there are very many. */
export function namedValues(node: JsonMap): unknown[] {
  if ('const' in node) return [node['const']];
  const named = listIn(node, 'enum').slice(0, MOST_NAMED);
  return [...new Map(named.map((one) => [JSON.stringify(one), one])).values()];
}

const A_LITTLE = 1e-3;

/** The smallest and largest allowed number, approximated for exclusive bounds. */
export function boundsOf(
  node: JsonMap,
  isWhole: boolean,
): Record<'least' | 'most' | 'step', number | undefined> {
  const margin = isWhole ? 1 : A_LITTLE;
  const above = numberIn(node, 'exclusiveMinimum');
  const below = numberIn(node, 'exclusiveMaximum');
  return {
    least: numberIn(node, 'minimum') ?? (above === undefined ? undefined : above + margin),
    most: numberIn(node, 'maximum') ?? (below === undefined ? undefined : below - margin),
    step: numberIn(node, 'multipleOf'),
  };
}
