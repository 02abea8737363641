import { similarName } from '../../base/similar-name.js';
import { type SchemaNode, schemasAt } from './schema.js';

/** A longer one is no slip of the finger, and comparing takes the square of its length. */
const LONGEST_NAME = 200;

/** What was meant by a name: the same in another spelling, or one that is close. */
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

/** For a key that is not known: the one that was meant, where it belongs, or all there are. */
export function suggestKey(path: readonly PropertyKey[]): string {
  const key = String(path.at(-1));
  const known = keysOf(schemasAt(path.slice(0, -1)));
  const close = didYouMean(meant(key, known));
  if (close !== undefined) return close;
  const owner = ownerOf(key, path);
  return owner === undefined ? `known are ${known.join(', ')}` : `it belongs into "${owner}"`;
}

const keysOf = (nodes: readonly SchemaNode[]): string[] =>
  nodes.flatMap((node) => Object.keys((node['properties'] as object | undefined) ?? {}));

/** A map beside the key, or further out, that knows it. */
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

/** For a value that is none of the choices. */
export function suggestValue(path: readonly PropertyKey[], given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined;
  const choices = schemasAt(path)
    .flatMap((node) => [...((node['enum'] as unknown[] | undefined) ?? []), node['const'] ?? []])
    .filter((choice) => typeof choice === 'string');
  return didYouMean(meant(given, choices));
}
