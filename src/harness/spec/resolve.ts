import { isMap, type JsonMap } from '../judge/answer.js';
import type { Reference } from './reference.js';
import { type Scope, type Substituted, type SubstituteOptions, substitute } from './substitute.js';

/** Known before any test runs, and never a matter of what servers answer. */
export const PLANNED_KEYS = ['name', 'description', 'tags', 'skip', 'only', 'dependencies', 'depends_on'];
/** Nothing is interpolated into code; and what defines variables has none of its own row yet. */
export const VERBATIM_KEYS = ['validation_scripts', 'matrix', 'variables'];
const PATTERN_KEYS = ['pattern', 'text_pattern', 'error_message_pattern'];
const TEXT_KEYS = [
  'name',
  'description',
  'tags',
  'path',
  'text_contains',
  'text_not_contains',
  'error_message_contains',
];

/** What was captured means itself inside of a pattern, whatever signs it holds. */
const quote = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

function optionsAt(key: string): Partial<SubstituteOptions> {
  if (PATTERN_KEYS.includes(key)) return { quote, asText: true };
  return TEXT_KEYS.includes(key) ? { asText: true } : {};
}

type Change = (key: string, value: unknown) => unknown;

/**
 * A test with its references replaced, as it is written or as it was read. References in its Python (validation
 * scripts, expressions) stay what they are: code gets variables as values.
 */
export function resolveTest<T extends object>(
  test: T,
  scope: Scope,
  options: SubstituteOptions,
  verbatim: readonly string[] = VERBATIM_KEYS,
): Substituted<T> {
  const missing: Reference[] = [];
  const put = (value: unknown, more: Partial<SubstituteOptions> = {}): unknown => {
    const done = substitute(value, scope, { ...options, ...more });
    missing.push(...done.missing);
    return done.value;
  };
  const inField: Change = (key, value) => put(value, optionsAt(key));
  const inExpected: Change = (key, value) => {
    if (key === 'expression') return value;
    if (key === 'fields' && Array.isArray(value))
      return same(
        value,
        value.map((field) => (isMap(field) ? changed(field, inField) : put(field))),
      );
    return put(value, optionsAt(key));
  };
  const inTest: Change = (key, value) => {
    if (verbatim.includes(key)) return value;
    if (key === 'expected' && isMap(value)) return changed(value, inExpected);
    return put(
      value,
      PLANNED_KEYS.includes(key) ? { ...optionsAt(key), isLast: true, later: new Set() } : {},
    );
  };
  return { value: changed(test as JsonMap, inTest) as T, missing };
}

/** The map itself where nothing changes: compiled schemas are known by their identity. */
function changed(map: JsonMap, change: Change): JsonMap {
  const entries = Object.entries(map).map(([key, value]) => [key, change(key, value)] as const);
  return entries.every(([key, value]) => value === map[key]) ? map : Object.fromEntries(entries);
}

const same = <T>(before: T[], after: T[]): T[] =>
  after.every((item, index) => item === before[index]) ? before : after;
