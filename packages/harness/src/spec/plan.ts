import type { ServerUnderTest, Step, TestCase } from '@pungi/core/contract';
import type { NamedSchema } from '../judge/schema.js';
import type { Position } from './fault.js';
import type { Kind } from './raw.js';
import type { PlannedScript } from './scripts.js';
import {
  PLANNED_KEYS,
  resolveTest,
  type Scope,
  type Substituted,
  substitute,
  VERBATIM_KEYS,
} from './substitute.js';

/** A test that is ready to run after captured values are substituted. */
export interface PlannedTest {
  /** "tool/add/adds two numbers [a=1]", unique in the specification. */
  id: string;
  kind: Kind;
  target: string;
  name: string;
  test: TestCase;
  /** The values of its matrix row. */
  row?: Row;
  /** Ids of tests that must have passed. They come before it. */
  dependsOn: string[];
  /** The scripts to run, in order; empty if script_config has enabled: false. */
  scripts: PlannedScript[];
  /** From `schema` and `schema_file`. */
  schemas: NamedSchema[];
  /** The reason why it is skipped. */
  skip?: string;
  origin: { file: string; position: Position | null };
}

/** Selects tests. */
interface Selection {
  /** Any of these tags; "!slow" leaves out tests tagged slow. */
  tags?: readonly string[];
  /** A part of the id, case-insensitive, or a regular expression between slashes. */
  filter?: string | undefined;
}

/** Selects tests and their dependencies, in an order in which they can run. */
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

// The last substitution happens right before a test or a step runs.

/** Substitutes the captured values. Keys of the plan were substituted before. */
export function finishTest(planned: PlannedTest, scope: Scope): Substituted<PlannedTest> {
  const verbatim = [...VERBATIM_KEYS, ...PLANNED_KEYS];
  const { value: test, missing } = resolveTest(planned.test, scope, { isLast: true }, verbatim);
  const { schema } = test.expected;
  const schemas = planned.schemas.map((one) =>
    one.from === 'schema' && schema !== undefined ? { ...one, schema } : one,
  );
  return { value: { ...planned, test, schemas }, missing };
}

export const finishStep = (step: Step, scope: Scope): Substituted<Step> =>
  substitute(step, scope, { isLast: true });

/** ${port} in a server's arguments, environment and URL becomes a free port. */
export const finishServer = (server: ServerUnderTest, port: number): ServerUnderTest =>
  substitute(server, { variables: [{ port: String(port) }], captured: {}, environment: {} }, { isLast: true })
    .value;

/** More rows are a mistake, or a loop that belongs in a script. */
export const MAX_ROWS = 1000;

export type Row = Readonly<Record<string, unknown>>;

/** All combinations, the last name varying fastest. Undefined if there are too many. */
export function expandMatrix(matrix: Readonly<Record<string, readonly unknown[]>>): Row[] | undefined {
  const count = Object.values(matrix).reduce((product, values) => product * values.length, 1);
  if (count > MAX_ROWS) return undefined;
  return Object.entries(matrix).reduce<Row[]>(
    (rows, [name, values]) => rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))),
    [{}],
  );
}

const MAX_VALUE = 30;

/** Formats a row for names: [a=1, b="x"]. */
export function rowText(row: Row): string {
  const parts = Object.entries(row).map(([name, value]) => {
    const text = typeof value === 'string' && /^[\w.-]+$/.test(value) ? value : JSON.stringify(value);
    return `${name}=${text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text}`;
  });
  return `[${parts.join(', ')}]`;
}
