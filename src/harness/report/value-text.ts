import { type Bounds, bounded } from './bounded-text.js';

/** Longer than this, a list or an object takes a line for each of its members. */
const LINE = 88;
/** A server can nest deeper than a program can follow. */
const DEEPEST = 30;

// Format characters but for the two joiners that scripts and emoji are written with; line and paragraph separators.
const UNSEEN = /(?![\u200C\u200D])[\p{Cf}\u007F-\u009F\u2028\u2029]/gu;

/**
 * A value as JSON that shows every character: what would not be seen is written as an escape, and stays JSON. That is
 * looked for only in what is shown of it.
 */
export const valueText = (value: unknown, bounds: Bounds): string =>
  bounded(written(value, '', 0), bounds).replace(UNSEEN, escaped);

function written(value: unknown, indent: string, depth: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (depth === DEEPEST) return `${open} … nested deeper … ${close}`;
  const members = Array.isArray(value)
    ? value.map((item) => written(item, inner, depth + 1))
    : Object.entries(value).map(
        ([key, item]) => `${JSON.stringify(key)}: ${written(item, inner, depth + 1)}`,
      );
  const length = members.reduce((sum, member) => sum + member.length + 2, indent.length);
  if (length <= LINE && !members.some((member) => member.includes('\n'))) {
    return `${open}${members.join(', ')}${close}`;
  }
  return `${open}\n${inner}${members.join(`,\n${inner}`)}\n${indent}${close}`;
}

function escaped(character: string): string {
  let text = '';
  for (let at = 0; at < character.length; at += 1) {
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return text;
}
