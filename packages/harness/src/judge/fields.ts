import { similarName } from '@pungi/core/base';
import type { Failure, FieldExpectation } from '@pungi/core/contract';
import { lookUp } from './answer.js';
import { jsonEqual } from './diff.js';
import { failure, mismatch } from './failure.js';
import { type Path, pathProblem, pathText, select } from './select.js';
import { aType, shown, typeOf } from './shown.js';
import { matchPattern, patternProblem } from './text.js';

/** A path that selects many values would repeat the same message. */
const MAX_FAILURES = 10;

/** Every value that the path selects must match. */
export function judgeField(field: FieldExpectation, views: readonly unknown[]): Failure[] {
  const invalid = pathProblem(field.path);
  if (invalid !== undefined)
    return [failure(`The path ${shown(field.path)} ${invalid}.`, { path: field.path })];
  const { view, selected } = lookUp(views, field.path);
  if (selected.length === 0) return field.required ? [missing(field, view)] : [];
  const found: Failure[] = [];
  for (const { value, path } of selected) {
    found.push(...judgeValue(field, value, pathText(path)));
    if (found.length > MAX_FAILURES) return [...found.slice(0, MAX_FAILURES), andMore(field)];
  }
  return found;
}

const andMore = ({ path }: FieldExpectation) =>
  failure(`${path} selects more values that do not match.`, { path });

type Check = (field: FieldExpectation, value: unknown, path: string) => Failure | undefined;

const judgeValue = (field: FieldExpectation, value: unknown, path: string): Failure[] =>
  CHECKS.flatMap((check) => check(field, value, path) ?? []);

const exactly: Check = ({ value: expected }, value, path) =>
  expected === undefined || jsonEqual(expected, value)
    ? undefined
    : mismatch(`${path} should be ${shown(expected)} but is ${shown(value)}.`, expected, value, { path });

const type: Check = ({ type, field_type = type }, value, path) => {
  if (field_type === undefined || typeOf(value) === field_type) return undefined;
  if (field_type === 'integer' && Number.isInteger(value)) return undefined;
  const message = `${path} should be ${aType(field_type)} but is ${aType(typeOf(value))}: ${shown(value)}.`;
  return failure(message, { path, expected: field_type, actual: typeOf(value) });
};

const pattern: Check = ({ pattern }, value, path) => {
  if (pattern === undefined) return undefined;
  const invalid = patternProblem(pattern);
  if (invalid !== undefined) return failure(`The pattern ${shown(pattern)} ${invalid}.`, { path });
  if (typeof value !== 'string') return needs('a pattern', 'a string', value, path);
  const { matches, note } = matchPattern(pattern, value);
  if (matches) return undefined;
  return failure(`${path} should match /${pattern}/ but is ${shown(value)}${note}.`, {
    path,
    expected: pattern,
    actual: value,
  });
};

const bounds: Check = ({ min, max }, value, path) => {
  if (min === undefined && max === undefined) return undefined;
  if (typeof value !== 'number') return needs(min === undefined ? 'max' : 'min', 'a number', value, path);
  if (min !== undefined && !(value >= min))
    return failure(`${path} should be at least ${min} but is ${value}.`, {
      path,
      expected: min,
      actual: value,
    });
  if (max !== undefined && !(value <= max))
    return failure(`${path} should be at most ${max} but is ${value}.`, {
      path,
      expected: max,
      actual: value,
    });
  return undefined;
};

const contains: Check = ({ contains }, value, path) => {
  if (contains === undefined) return undefined;
  if (typeof value === 'string') {
    // A number in YAML is compared as its text.
    const part = typeof contains === 'string' ? contains : JSON.stringify(contains);
    if (value.includes(part)) return undefined;
    return failure(`${path} should contain ${shown(contains)} but is ${shown(value)}.`, {
      path,
      expected: contains,
      actual: value,
    });
  }
  if (!Array.isArray(value)) return needs('contains', 'a string or an array', value, path);
  if (value.some((item) => jsonEqual(item, contains))) return undefined;
  return failure(`${path} should have the item ${shown(contains)} but is ${shown(value)}.`, {
    path,
    expected: contains,
    actual: value,
  });
};

/** Counts characters as people do, not UTF-16 units. */
function lengthOf(value: unknown): [number, string] | undefined {
  if (typeof value === 'string') return [[...value].length, 'characters'];
  if (Array.isArray(value)) return [value.length, 'items'];
  if (typeof value === 'object' && value !== null) return [Object.keys(value).length, 'keys'];
  return undefined;
}

const lengths: Check = ({ min_length: least, max_length: most }, value, path) => {
  if (least === undefined && most === undefined) return undefined;
  const measured = lengthOf(value);
  if (measured === undefined) return needs('a length', 'a string, an array or an object', value, path);
  const [length, unit] = measured;
  const isShort = least !== undefined && length < least;
  if (!isShort && (most === undefined || length <= most)) return undefined;
  const should = isShort ? `at least ${least}` : `at most ${most}`;
  return failure(`${path} should have ${should} ${unit} but has ${length}.`, {
    path,
    expected: isShort ? least : most,
    actual: length,
  });
};

const items: Check = ({ array_length: expected }, value, path) => {
  if (expected === undefined) return undefined;
  if (!Array.isArray(value)) return needs('array_length', 'an array', value, path);
  if (value.length === expected) return undefined;
  const message = `${path} should have ${expected} items but has ${value.length}.`;
  return failure(message, { path, expected, actual: value.length });
};

const oneOf: Check = ({ one_of: allowed }, value, path) =>
  allowed === undefined || allowed.some((one) => jsonEqual(one, value))
    ? undefined
    : failure(`${path} should be one of ${shown(allowed)} but is ${shown(value)}.`, {
        path,
        expected: allowed,
        actual: value,
      });

const not: Check = ({ not: unwanted }, value, path) =>
  unwanted === undefined || !jsonEqual(unwanted, value)
    ? undefined
    : failure(`${path} should be anything but ${shown(unwanted)}.`, { path, actual: value });

const CHECKS: readonly Check[] = [exactly, type, pattern, bounds, contains, lengths, items, oneOf, not];

const needs = (what: string, kind: string, value: unknown, path: string): Failure =>
  failure(`${path} should be ${kind}, because of ${what} but is ${aType(typeOf(value))}: ${shown(value)}.`, {
    path,
    actual: value,
  });

/** Says which part of the path exists, and what is there instead. */
function missing({ path }: FieldExpectation, view: unknown): Failure {
  const steps = path.match(/\.\.|\.[^.[]+|\[[^\]]*\]/g) ?? [];
  const isPlain = `$${steps.join('')}` === path && !/\.\.|[*?:,]/.test(path);
  const whole = `there is no ${path} in the answer, which is ${shown(view)}`;
  const message = isPlain ? (nearest(steps, view) ?? whole) : whole;
  return failure(`${message[0]!.toUpperCase()}${message.slice(1)}.`, { path, actual: view });
}

function nearest(steps: readonly string[], view: unknown): string | undefined {
  for (let length = steps.length - 1; length > 0; length -= 1) {
    const parent = `$${steps.slice(0, length).join('')}`;
    const found = pathProblem(parent) === undefined ? select(view, parent) : [];
    if (found.length > 0)
      return `${parent} has no ${steps[length]}${instead(steps[length]!, found[0]!.value)}`;
  }
  const step = steps[0];
  return step === undefined ? undefined : `the answer has no $${step}${instead(step, view)}`;
}

function instead(step: string, value: unknown): string {
  if (Array.isArray(value)) return `: it is an array of ${value.length} items`;
  if (typeof value !== 'object' || value === null) return `: it is ${shown(value)}`;
  const keys = Object.keys(value);
  const meant = similarName(step.replace(/^\.|[[\]'"]/g, ''), keys.slice(0, 1000));
  if (meant !== undefined) return `, but ${shown(meant)}`;
  return keys.length === 0 ? ': it is empty' : `: its keys are ${shown(keys.slice(0, 20).join(', '))}`;
}

const MAX_REPORTED = 20;

/** The named parts: a whole value (true), or something inside it. */
type Named = true | Map<string | number, Named>;

/** Reports everything that no field names. A field names its whole value, and the path to it. */
export function judgeExtraFields(fields: readonly FieldExpectation[], views: readonly unknown[]): Failure[] {
  const lookups = fields
    .filter(({ path }) => pathProblem(path) === undefined)
    .map(({ path }) => lookUp(views, path))
    .filter(({ selected }) => selected.length > 0);
  // Fields of another view describe the same answer in another form.
  const view = views.find((one) => lookups.some((found) => found.view === one)) ?? views[0];
  const paths = lookups
    .filter((found) => found.view === view)
    .flatMap(({ selected }) => selected.map(({ path }) => path));
  const extra: Path[] = [];
  collect(view, namedBy(paths), [], extra);
  return extra.map((path) =>
    failure(`${pathText(path)} is unexpected: no field names it. It is ${shown(valueAt(view, path))}.`, {
      path: pathText(path),
      actual: valueAt(view, path),
    }),
  );
}

function namedBy(paths: readonly Path[]): Named {
  const root: Named = new Map();
  for (const path of paths) {
    if (path.length === 0) return true;
    let here: Map<string | number, Named> = root;
    for (const [index, key] of path.entries()) {
      const next: Named = here.get(key) ?? new Map();
      const isLast = index === path.length - 1;
      here.set(key, isLast ? true : next);
      // `content` of a resource is derived from `contents`.
      if (isLast && path.length === 1 && key === 'content') here.set('contents', true);
      if (next === true) break;
      here = next;
    }
  }
  return root;
}

/** Collects the topmost parts that are not named. */
function collect(value: unknown, named: Named | undefined, path: Path, extra: Path[]): void {
  if (named === true || extra.length >= MAX_REPORTED) return;
  if (named === undefined) {
    extra.push(path);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  for (const key of keys)
    collect((value as Record<string, unknown>)[key], named.get(key), [...path, key], extra);
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((one, key) => (one as Record<PropertyKey, unknown>)[key], value);
