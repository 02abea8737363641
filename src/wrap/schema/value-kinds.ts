import type { JsonSchema } from './parameters.js';

export const isRecord = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function isOfKind(value: unknown, kind: string): boolean {
  if (kind === 'integer') return Number.isInteger(value);
  if (kind === 'array') return Array.isArray(value);
  if (kind === 'null') return value === null;
  return kind === 'object' ? isRecord(value) : typeof value === kind;
}

const NUMBER = /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i;
const LONGEST_NUMBER = 100;

/** What a text stands for where something else is wanted; undefined: it is nothing of the kind. */
export function turnedInto(value: string, kinds: readonly string[]): unknown {
  const text = value.trim();
  const wantsNumber = kinds.includes('integer') || kinds.includes('number');
  if (wantsNumber && text.length <= LONGEST_NUMBER && NUMBER.test(text)) {
    return kinds.some((kind) => isOfKind(Number(text), kind)) ? Number(text) : undefined;
  }
  if (kinds.includes('boolean') && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (!kinds.includes('array') && !kinds.includes('object')) return undefined;
  try {
    const decoded: unknown = JSON.parse(text);
    return kinds.some((kind) => ['array', 'object'].includes(kind) && isOfKind(decoded, kind))
      ? decoded
      : undefined;
  } catch {
    return undefined;
  }
}
