import { stringify } from 'yaml';
import type { JsonMap } from '../judge/answer.js';
import { escapeReferences } from '../spec/reference.js';

/** A specification as a file for people: comments first, then the keys in the order that they are read in. */
export function specText(comments: readonly string[], specification: JsonMap): string {
  const head = comments.map((line) => `# ${line}\n`).join('');
  return `${head}\n${stringify(specification, { lineWidth: 100, aliasDuplicateObjects: false })}`;
}

/** A value that was met, not written: what looks like a reference in it is none. */
export function verbatim(value: unknown): unknown {
  if (typeof value === 'string') return escapeReferences(value);
  if (Array.isArray(value)) return value.map(verbatim);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, verbatim(item)]));
}
