import { diffArrays } from 'diff';
import { isMap, type JsonMap } from './answer.js';
import { cut } from './shown.js';

const MAX_LINES = 80;
const MAX_WIDTH = 160;
/** The length kept before the first difference of two long texts. */
const LEAD = 40;
/** Lists with more differences are compared item by item: alignment takes quadratic time. */
const MAX_EDITS = 400;

/**
 * Formats differences as lines with - (expected) and + (actual); equal parts are counted. Empty if nothing
 * differs.
 */
export function diff(expected: unknown, actual: unknown): string {
  const lines = differences(expected, actual, '', '');
  if (lines.length <= MAX_LINES) return lines.join('\n');
  return [...lines.slice(0, MAX_LINES), '  … and more'].join('\n');
}

/** `label` is the key of the value, as it is written before it. */
function differences(expected: unknown, actual: unknown, label: string, indent: string): string[] {
  if (isMap(expected) && isMap(actual)) return mapDifferences(expected, actual, label, indent);
  if (Array.isArray(expected) && Array.isArray(actual))
    return listDifferences(expected, actual, label, indent);
  if (jsonEqual(expected, actual)) return [];
  if (typeof expected === 'string' && typeof actual === 'string')
    return textDifferences(expected, actual, label, indent);
  return [...written('-', expected, label, indent), ...written('+', actual, label, indent)];
}

function mapDifferences(expected: JsonMap, actual: JsonMap, label: string, indent: string): string[] {
  const inner = `${indent}  `;
  const body = new Body(inner);
  for (const [key, value] of Object.entries(expected)) {
    const name = `${JSON.stringify(cut(key, MAX_WIDTH))}: `;
    if (Object.hasOwn(actual, key)) body.add(differences(value, actual[key], name, inner), 1);
    else body.add(written('-', value, name, inner), 0);
  }
  for (const [key, value] of Object.entries(actual)) {
    if (!Object.hasOwn(expected, key))
      body.add(written('+', value, `${JSON.stringify(cut(key, MAX_WIDTH))}: `, inner), 0);
  }
  return body.between(`  ${indent}${label}{`, `  ${indent}}`);
}

function listDifferences(
  expected: readonly unknown[],
  actual: readonly unknown[],
  label: string,
  indent: string,
): string[] {
  const inner = `${indent}  `;
  const body = new Body(inner);
  for (const [removed, added] of changes(expected, actual, jsonEqual, body)) {
    for (const [index, item] of removed.entries()) {
      if (index < added.length) body.add(differences(item, added[index], '', inner), 1);
      else body.add(written('-', item, '', inner), 0);
    }
    for (const item of added.slice(removed.length)) body.add(written('+', item, '', inner), 0);
  }
  return body.between(`  ${indent}${label}[`, `  ${indent}]`);
}

/** The removed and added items at each difference of two lists. Shared items are counted in `body`. */
function* changes<T>(
  expected: readonly T[],
  actual: readonly T[],
  comparator: (one: T, other: T) => boolean,
  body: Body,
): Generator<[removed: readonly T[], added: readonly T[]]> {
  const found = diffArrays([...expected], [...actual], { comparator, maxEditLength: MAX_EDITS });
  if (found === undefined) {
    yield [expected, actual];
    return;
  }
  let [removed, added]: [T[], T[]] = [[], []];
  for (const change of found) {
    if (change.removed) removed = removed.concat(change.value);
    else if (change.added) added = added.concat(change.value);
    else {
      yield [removed, added];
      [removed, added] = [[], []];
      body.add([], change.value.length);
    }
  }
  yield [removed, added];
}

/** Multi-line texts are compared by line; others are shown from shortly before their first difference. */
function textDifferences(expected: string, actual: string, label: string, indent: string): string[] {
  if (!expected.includes('\n') && !actual.includes('\n')) {
    const start = sameStart(expected, actual) - LEAD;
    const part = (text: string) =>
      start > 0 && Math.max(expected.length, actual.length) > MAX_WIDTH ? `…${text.slice(start)}` : text;
    return [...written('-', part(expected), label, indent), ...written('+', part(actual), label, indent)];
  }
  const inner = `${indent}  `;
  const body = new Body(inner);
  const line = (sign: string, text: string) => `${sign} ${inner}${cut(text, MAX_WIDTH)}`;
  for (const [removed, added] of changes(expected.split('\n'), actual.split('\n'), Object.is, body)) {
    body.add(
      removed.map((text) => line('-', text)),
      0,
    );
    body.add(
      added.map((text) => line('+', text)),
      0,
    );
  }
  return body.between(`  ${indent}${label}"""`, `  ${indent}"""`);
}

function sameStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** A whole value, with the sign on each line. */
function written(sign: string, value: unknown, label: string, indent: string): string[] {
  const text = JSON.stringify(value, null, 2) ?? String(value);
  return text
    .split('\n', MAX_LINES + 1)
    .map((line, index) => cut(`${sign} ${indent}${index === 0 ? label : ''}${line}`, MAX_WIDTH));
}

/** The differences inside a map, a list or a text. Equal parts become one line with their number. */
class Body {
  readonly #indent: string;
  readonly #lines: string[] = [];
  #same = 0;
  #differs = false;

  constructor(indent: string) {
    this.#indent = indent;
  }

  /** `same` counts equal items without lines. */
  add(lines: readonly string[], same: number): void {
    if (lines.length === 0) {
      this.#same += same;
      return;
    }
    this.#flush();
    this.#differs = true;
    if (this.#lines.length <= MAX_LINES) this.#lines.push(...lines.slice(0, MAX_LINES + 1));
  }

  between(open: string, close: string): string[] {
    if (!this.#differs) return [];
    this.#flush();
    return [open, ...this.#lines, close];
  }

  #flush(): void {
    if (this.#same > 0 && this.#lines.length <= MAX_LINES)
      this.#lines.push(`  ${this.#indent}… ${this.#same} the same`);
    this.#same = 0;
  }
}

/** Whether two JSON values are equal. Prototypes and the order of keys do not matter. */
export function jsonEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return Number.isNaN(one) && Number.isNaN(other);
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => jsonEqual(item, other[index]));
  }
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every(
      (key) =>
        Object.hasOwn(other, key) &&
        jsonEqual((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]),
    )
  );
}
