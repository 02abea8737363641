import { stringify } from 'yaml';
import { type Answer, isErrorResult, isMap, type JsonMap } from '../judge/answer.js';
import { pathText } from '../judge/select.js';
import { typeOf } from '../judge/shown.js';
import { escapeReferences } from '../spec/reference.js';

/** Formats a specification for people: comments first, then keys in reading order. */
export function specText(comments: readonly string[], specification: JsonMap): string {
  const head = comments.map((line) => `# ${line}\n`).join('');
  return `${head}\n${stringify(specification, { lineWidth: 100, aliasDuplicateObjects: false })}`;
}

/** Escapes a value from a server: what looks like a reference in it is text. */
export function verbatim(value: unknown): unknown {
  if (typeof value === 'string') return escapeReferences(value);
  if (Array.isArray(value)) return value.map(verbatim);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, verbatim(item)]));
}

const MOST_FIELDS = 12;

/** Expectations that match this answer and others like it: its kind, not its content. */
export function shapeOf(answer: Answer): JsonMap {
  if (answer.kind === 'cancelled') return { cancelled: true };
  if (answer.kind === 'error') return { error: true, error_code: answer.code };
  if (isErrorResult(answer)) return { error: true };
  const fields = fieldsOf(answer);
  return fields.length === 0 ? {} : { fields };
}

function fieldsOf({ of, result }: Answer & { kind: 'result' }): JsonMap[] {
  if (!isMap(result)) return [];
  const { structuredContent, content, contents, messages } = result;
  if (of === 'resource') return typed(firstOf(contents), ['contents', 0], ['mimeType', 'text', 'blob']);
  if (of === 'prompt') return typed(firstOf(messages), ['messages', 0], ['role', 'content']);
  if (isMap(structuredContent)) return typed(structuredContent, [], Object.keys(structuredContent));
  const first = firstOf(content);
  return first === undefined ? [] : [{ path: '$.content[0].type', value: verbatim(first['type']) }];
}

const firstOf = (list: unknown): JsonMap | undefined =>
  Array.isArray(list) && isMap(list[0]) ? list[0] : undefined;

function typed(map: JsonMap | undefined, at: (string | number)[], keys: readonly string[]): JsonMap[] {
  if (map === undefined) return [];
  return keys
    .filter((key) => map[key] !== undefined && map[key] !== null)
    .slice(0, MOST_FIELDS)
    .map((key) => ({ path: verbatim(pathText([...at, key])), type: typeOf(map[key]) }));
}
