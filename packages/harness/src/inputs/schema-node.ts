import { isMap, type JsonMap } from '../judge/answer.js';

const MOST_REFERENCES = 20;
/** Parts of one `allOf`, and of those in them: they may name each other, and themselves. */
const MOST_PARTS = 200;
const MOST_NAMED = 1000;

/** The schema that a reference inside of the same document leads to; a map of rules in any case. */
export const nodeOf = (schema: unknown, root: unknown): JsonMap => partOf(schema, root, { left: MOST_PARTS });

function partOf(schema: unknown, root: unknown, parts: { left: number }): JsonMap {
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

/** What all of `allOf` say, as one. */
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

/** The values that a schema names, where it names any; the first of them, where there are very many. */
export function namedValues(node: JsonMap): unknown[] {
  if ('const' in node) return [node['const']];
  const named = listIn(node, 'enum').slice(0, MOST_NAMED);
  return [...new Map(named.map((one) => [JSON.stringify(one), one])).values()];
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
