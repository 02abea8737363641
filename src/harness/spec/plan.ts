import type { TestCase } from '../../contract/spec.js';
import type { NamedSchema } from '../judge/schema.js';
import type { Position } from './fault.js';
import type { Row } from './matrix.js';
import type { Kind } from './raw.js';
import type { PlannedScript } from './scripts.js';

/** A test that can run as soon as what is captured before it is put in. */
export interface PlannedTest {
  /** "tool/add/adds two numbers [a=1]", unique in the specification. */
  id: string;
  kind: Kind;
  target: string;
  name: string;
  test: TestCase;
  /** The values of its matrix. */
  row?: Row;
  /** Ids of tests that must have passed. They stand before it. */
  dependsOn: string[];
  /** All that are to run, in order; none where script_config says enabled: false. */
  scripts: PlannedScript[];
  /** Of `schema` and `schema_file`. */
  schemas: NamedSchema[];
  /** Why it is not run. */
  skip?: string;
  origin: { file: string; position: Position | null };
}

/** Which tests are asked for. */
export interface Selection {
  /** One of these; "!slow" leaves out what is tagged slow. */
  tags?: readonly string[];
  /** A part of the id, in any case; or a regular expression between slashes. */
  filter?: string | undefined;
}

/** The tests that are asked for, and what they depend on, in an order in which they can run. */
export function plan(tests: readonly PlannedTest[], { tags = [], filter }: Selection = {}): PlannedTest[] {
  const matches = matcher(filter);
  const wanted = tags.filter((tag) => !tag.startsWith('!'));
  const unwanted = tags.filter((tag) => tag.startsWith('!')).map((tag) => tag.slice(1));
  const hasOnly = tests.some(({ test }) => test.only);
  const chosen = tests.filter(
    ({ id, test }) =>
      (!hasOnly || test.only) &&
      (wanted.length === 0 || test.tags.some((tag) => wanted.includes(tag))) &&
      !test.tags.some((tag) => unwanted.includes(tag)) &&
      matches(id),
  );
  const byId = new Map(tests.map((test) => [test.id, test]));
  const needed = new Set<string>();
  const open = chosen.map(({ id }) => id);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (needed.has(id)) continue;
    needed.add(id);
    open.push(...(byId.get(id)?.dependsOn ?? []));
  }
  return tests.filter(({ id }) => needed.has(id));
}

function matcher(filter: string | undefined): (id: string) => boolean {
  if (filter === undefined || filter === '') return () => true;
  const [, source, flags] = /^\/(.+)\/([imsu]*)$/.exec(filter) ?? [];
  if (source !== undefined) {
    const pattern = new RegExp(source, flags);
    return (id) => pattern.test(id);
  }
  const part = filter.toLowerCase();
  return (id) => id.toLowerCase().includes(part);
}
