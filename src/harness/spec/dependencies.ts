import type { SpecFault, SpecPath } from './fault.js';
import type { ParsedTest } from './parse-tests.js';
import { type Kind, listOf, mapOf } from './raw.js';
import { referencesIn } from './reference.js';
import { rootOf } from './substitute.js';
import { didYouMean, meant } from './suggest.js';

/** A test with the tests that must have passed before it. */
export interface Linked {
  id: string;
  parsed: ParsedTest;
  dependsOn: Linked[];
}

/** One that was written, whether or not it can be used. */
export interface Nameable {
  kind: Kind;
  target: unknown;
  name: unknown;
}

export const idOf = ({ kind, target, name }: { kind: Kind; target: string; name: string }): string =>
  `${kind}/${target}/${name}`;

/** Links tests with those that they name, and with those whose captures they use. */
export function link(
  tests: readonly Linked[],
  written: readonly Nameable[],
  early: ReadonlySet<string>,
): SpecFault[] {
  const faults: SpecFault[] = [];
  for (const test of tests) {
    const { parsed } = test;
    for (const { name, at } of namedIn(parsed)) {
      const found = named(name, parsed, tests);
      if (Array.isArray(found)) test.dependsOn.push(...found.filter((one) => one !== test));
      else if (found !== undefined || !written.some((one) => isNamed(name, one)))
        faults.push(parsed.written.source.fault(at, ...unknown(name, found, tests)));
      if (Array.isArray(found) && found.includes(test) && found.length === 1)
        faults.push(parsed.written.source.fault(at, 'depends on itself'));
    }
    for (const name of capturesUsed(parsed)) {
      const source = early.has(name) ? undefined : capturing(name, test, tests);
      if (source !== undefined && !test.dependsOn.includes(source)) test.dependsOn.push(source);
    }
  }
  return faults;
}

function namedIn({ test, written }: ParsedTest): { name: string; at: SpecPath }[] {
  return (['dependencies', 'depends_on'] as const).flatMap((key) =>
    (test[key] ?? []).map((name, index) => ({ name, at: [...written.at, key, index] })),
  );
}

type Names = Pick<ParsedTest, 'kind' | 'target' | 'baseName' | 'name'>;

const spellings = ({ kind, target, baseName, name }: Names): string[] =>
  [baseName, name].flatMap((one) => [one, `${target}/${one}`, `${kind}/${target}/${one}`]);

const isNamed = (name: string, { kind, target, name: own }: Nameable): boolean =>
  typeof target === 'string' &&
  typeof own === 'string' &&
  spellings({ kind, target, baseName: own, name: own }).includes(name);

/** All rows of a matrix bear one name. Tests of the same tool come first; else a name must not stand for two. */
function named(name: string, from: ParsedTest, tests: readonly Linked[]): Linked[] | 'ambiguous' | undefined {
  const found = tests.filter(({ parsed }) => spellings(parsed).includes(name));
  if (found.length === 0) return undefined;
  const near = found.filter(({ parsed }) => parsed.kind === from.kind && parsed.target === from.target);
  const meantOnes = near.length > 0 ? near : found;
  const places = new Set(meantOnes.map(({ parsed }) => parsed.written.value));
  return places.size === 1 ? meantOnes : 'ambiguous';
}

function unknown(
  name: string,
  found: 'ambiguous' | undefined,
  tests: readonly Linked[],
): [message: string, more: { suggestion: string }] {
  if (found === 'ambiguous') {
    const all = tests.filter(({ parsed }) => spellings(parsed).includes(name)).map(({ id }) => `"${id}"`);
    return [`names several tests: "${name}"`, { suggestion: `write which one: ${all.join(' or ')}` }];
  }
  const names = [...new Set(tests.flatMap(({ parsed }) => spellings(parsed)))];
  const suggestion = didYouMean(meant(name, names)) ?? 'tests are named by their name, or as tool/name';
  return [`names a test that there is not: "${name}"`, { suggestion }];
}

/** Names whose values must come from another test. */
function capturesUsed({ test }: ParsedTest): Set<string> {
  const { validation_scripts: _, matrix: __, variables: ___, ...rest } = test;
  const own = new Set([
    ...test.setup.flatMap(({ capture }) => Object.keys(capture)),
    ...test.cleanup.flatMap(({ capture }) => Object.keys(capture)),
  ]);
  const used = referencesIn({ ...rest, expected: { ...rest.expected, expression: undefined } });
  // With a default it can do without.
  return new Set(
    used
      .filter(({ reference }) => !reference.isEnvironment && reference.fallback === undefined)
      .map(({ reference }) => rootOf(reference.name))
      .filter((name) => !own.has(name)),
  );
}

/** The last one before it that captures the name; where there is none before it, the first. */
function capturing(name: string, test: Linked, tests: readonly Linked[]): Linked | undefined {
  const all = tests.filter((one) => one !== test && Object.hasOwn(one.parsed.test.capture, name));
  const before = all.filter((one) => tests.indexOf(one) < tests.indexOf(test));
  return before.at(-1) ?? all[0];
}

/** What a test depends on stands before it; else the order is that of the files. */
export function arrange(tests: readonly Linked[]): { order: Linked[]; faults: SpecFault[] } {
  const order: Linked[] = [];
  const faults: SpecFault[] = [];
  const state = new Map<Linked, 'open' | 'done'>();
  const visit = (test: Linked, way: readonly Linked[]): void => {
    if (state.get(test) === 'done') return;
    if (state.get(test) === 'open') {
      const circle = [...way.slice(way.indexOf(test)), test].map(({ id }) => `"${id}"`).join(' depends on ');
      const { written } = test.parsed;
      const key = listOf(mapOf(written.value)['depends_on']).length > 0 ? 'depends_on' : 'dependencies';
      faults.push(
        written.source.fault([...written.at, key], `tests depend on each other in a circle: ${circle}`),
      );
      return;
    }
    state.set(test, 'open');
    for (const before of test.dependsOn) visit(before, [...way, test]);
    state.set(test, 'done');
    order.push(test);
  };
  for (const test of tests) visit(test, []);
  return { order, faults };
}
