import type { JsonSchema } from './parameters.js';
import { isRecord } from './value-kinds.js';

/** The place in a schema that a reference such as "#/$defs/Point" leads to; true, which allows anything, where that is none. */
export function targetOf(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith('#')) return true;
  const parts = reference
    .slice(1)
    .split('/')
    .filter((part) => part !== '');
  return parts
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, part) => (isRecord(at) && Object.hasOwn(at, part) ? at[part] : true), root);
}
