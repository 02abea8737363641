import type { Failure } from '@pungi/core/contract';

type Json = Exclude<Failure['actual'], undefined>;

const MAX_SHOWN = 120;
const MAX_TEXT = 2000;
const MAX_ITEMS = 50;
const MAX_LEVELS = 8;
const MAX_NODES = 1000;

/** Cuts a text without splitting a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = /[\uD800-\uDBFF]/.test(text[length - 1]!) ? length - 1 : length;
  return `${text.slice(0, end)}…`;
}

/** Formats a value for a sentence. */
export function shown(value: unknown): string {
  const small = bounded(value);
  return cut(typeof value === 'number' ? String(value) : JSON.stringify(small), MAX_SHOWN);
}

/** Shortens a value for a report; the result is always JSON. */
export function bounded(value: unknown): Json {
  let nodes = 0;
  const reduce = (one: unknown, level: number): Json => {
    nodes += 1;
    if (one === null || typeof one === 'boolean') return one;
    if (typeof one === 'string') {
      return one.length > MAX_TEXT ? `${cut(one, MAX_TEXT)} (${one.length} characters)` : one;
    }
    if (typeof one === 'number') return Number.isFinite(one) ? one : String(one);
    if (typeof one !== 'object') return String(one);
    const isArray = Array.isArray(one);
    const size = isArray ? one.length : Object.keys(one).length;
    if (level >= MAX_LEVELS || nodes > MAX_NODES) {
      if (size === 0) return isArray ? [] : {};
      return isArray ? `… (${size} items)` : `… (${size} keys)`;
    }
    if (isArray) {
      const items = one.slice(0, MAX_ITEMS).map((item) => reduce(item, level + 1));
      return size > MAX_ITEMS ? [...items, `… (${size - MAX_ITEMS} more)`] : items;
    }
    const entries = Object.entries(one).slice(0, MAX_ITEMS);
    const kept = entries.map(([key, item]) => [cut(key, MAX_SHOWN), reduce(item, level + 1)] as const);
    if (size > MAX_ITEMS) kept.push(['…', `${size - MAX_ITEMS} more`]);
    return Object.fromEntries(kept);
  };
  return reduce(value, 0);
}

/** The type, as field expectations name it. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const WITH_ARTICLE: Record<string, string> = {
  array: 'an array',
  object: 'an object',
  integer: 'an integer',
  null: 'null',
  undefined: 'nothing',
};

export const aType = (type: string): string => WITH_ARTICLE[type] ?? `a ${type}`;
