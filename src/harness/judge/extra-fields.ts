import type { FieldExpectation } from '../../contract/spec.js';
import type { Failure } from '../../contract/test-report.js';
import { lookUp } from './answer.js';
import { failure } from './failure.js';
import { type Path, pathProblem, pathText } from './select.js';
import { shown } from './shown.js';

const MAX_REPORTED = 20;

/** What was named: a whole value (true), or something inside of it. */
type Named = true | Map<string | number, Named>;

/** Nothing may be there that no field names. A field names its value with everything in it, and the way there. */
export function judgeExtraFields(fields: readonly FieldExpectation[], views: readonly unknown[]): Failure[] {
  const looked = fields
    .filter(({ path }) => pathProblem(path) === undefined)
    .map(({ path }) => lookUp(views, path))
    .filter(({ selected }) => selected.length > 0);
  // Fields of another view say something about the same answer in another form.
  const view = views.find((one) => looked.some((found) => found.view === one)) ?? views[0];
  const paths = looked
    .filter((found) => found.view === view)
    .flatMap(({ selected }) => selected.map(({ path }) => path));
  const extra: Path[] = [];
  collect(view, namedBy(paths), [], extra);
  return extra.map((path) =>
    failure(
      `${pathText(path)} should not be there: no field names it. It is ${shown(valueAt(view, path))}.`,
      {
        path: pathText(path),
        actual: valueAt(view, path),
      },
    ),
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
      // `content` of a resource is made of `contents`.
      if (isLast && path.length === 1 && key === 'content') here.set('contents', true);
      if (next === true) break;
      here = next;
    }
  }
  return root;
}

/** The topmost of what is not named. */
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
