import type { JsonSchema } from './parameters.js';
import { targetOf } from './target.js';
import { isRecord } from './value-kinds.js';

/** Names and values of a list are cheap to compile, but not free. */
const CHEAP = 1 / 20;

/**
 * What it costs to compile a schema, in schemas: those that it holds, and those that it refers to, each as often as it does,
 * since validators put them in the place of the reference.
 */
export function schemaCost(root: JsonSchema): number {
  const own = sizeOf(root);
  const targets = new Map<string, number>();
  const referred = (reference: string) => {
    const known = targets.get(reference);
    if (known !== undefined) return known;
    const target = targetOf(root, reference);
    // A reference that is not understood here could mean anything.
    const size = isRecord(target) ? sizeOf(target) : own;
    targets.set(reference, size);
    return size;
  };
  return own + sumOf(root, (key, value) => (isReference(key, value) ? referred(value) : 0));
}

const sizeOf = (schema: unknown) =>
  sumOf(schema, (_, value) => (typeof value === 'boolean' || isRecord(value) ? 1 : CHEAP));

const isReference = (key: string, value: unknown): value is string =>
  typeof value === 'string' && /^\$(dynamic|recursive)?Ref$/i.test(key);

/** Of everything in it, without going down with it, however deep it is. */
function sumOf(root: unknown, costOf: (key: string, value: unknown) => number): number {
  let sum = 0;
  const open: unknown[] = [root];
  while (open.length > 0) {
    for (const [key, value] of Object.entries(open.pop() as object)) {
      sum += costOf(key, value);
      if (typeof value === 'object' && value !== null) open.push(value);
    }
  }
  return sum;
}
