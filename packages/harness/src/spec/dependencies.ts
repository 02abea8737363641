import { chainText, type SpecFault, type SpecPath } from './fault.js';
import type { ParsedTest } from './parse-tests.js';
import { type Kind, listOf, mapOf } from './raw.js';
import { referencesIn } from './reference.js';
import { didYouMean, meant } from './schema.js';
import { rootOf } from './substitute.js';

/** A test with the tests that must pass before it. */
export interface Linked {
  id: string;
  parsed: ParsedTest;
  dependsOn: Linked[];
}

/** A test as written, whether or not it is valid. */
export interface Nameable {
  kind: Kind;
  target: unknown;
  name: unknown;
}

export const idOf = ({ kind, target, name }: { kind: Kind; target: string; name: string }): string =>
  `${kind}/${target}/${name}`;

/** Links tests with those they name, and with those whose captures they use. */
export function link(
  tests: readonly Linked[],
  written: readonly Nameable[],
  early: ReadonlySet<string>,
): SpecFault[] {
  const faults: SpecFault[] = [];
  const known = indexOf(tests);
  const writtenNames = new Set(written.flatMap(namesOf));
  for (const [place, test] of tests.entries()) {
    const { parsed } = test;
    const dependsOn = new Set<Linked>();
    for (const { name, at } of namedIn(parsed)) {
      const found = named(name, parsed, known);
      if (Array.isArray(found)) for (const one of found) dependsOn.add(one);
      else if (found !== undefined || !writtenNames.has(name))
        faults.push(parsed.written.source.fault(at, ...unknown(name, found, known)));
      if (Array.isArray(found) && found.includes(test) && found.length === 1)
        faults.push(parsed.written.source.fault(at, 'depends on itself'));
    }
    for (const name of capturesUsed(parsed)) {
      const source = early.has(name) ? undefined : capturing(name, place, known);
      if (source !== undefined) dependsOn.add(source);
    }
    dependsOn.delete(test);
    test.dependsOn.push(...dependsOn);
  }
  return faults;
}

/** Tests by their possible names, and by the names they capture. */
interface Index {
  named: Map<string, Linked[]>;
  capturing: Map<string, { test: Linked; place: number }[]>;
}

function indexOf(tests: readonly Linked[]): Index {
  const index: Index = { named: new Map(), capturing: new Map() };
  const add = <T>(map: Map<string, T[]>, key: string, one: T) => {
    const there = map.get(key);
    if (there === undefined) map.set(key, [one]);
    else there.push(one);
  };
  for (const [place, test] of tests.entries()) {
    for (const name of new Set(spellings(test.parsed))) add(index.named, name, test);
    for (const name of Object.keys(test.parsed.test.capture)) add(index.capturing, name, { test, place });
  }
  return index;
}

function namedIn({ test, written }: ParsedTest): { name: string; at: SpecPath }[] {
  return (['dependencies', 'depends_on'] as const).flatMap((key) =>
    (test[key] ?? []).map((name, index) => ({ name, at: [...written.at, key, index] })),
  );
}

type Names = Pick<ParsedTest, 'kind' | 'target' | 'baseName' | 'name'>;

const spellings = ({ kind, target, baseName, name }: Names): string[] =>
  [baseName, name].flatMap((one) => [one, `${target}/${one}`, `${kind}/${target}/${one}`]);

const namesOf = ({ kind, target, name }: Nameable): string[] =>
  typeof target === 'string' && typeof name === 'string'
    ? spellings({ kind, target, baseName: name, name })
    : [];

/**
 * Finds a test by name. All rows of a matrix share a name. Tests of the same tool come first; else the name
 * must be unique.
 */
function named(name: string, from: ParsedTest, { named: known }: Index): Linked[] | 'ambiguous' | undefined {
  const found = known.get(name);
  if (found === undefined) return undefined;
  const near = found.filter(({ parsed }) => parsed.kind === from.kind && parsed.target === from.target);
  const meantOnes = near.length > 0 ? near : found;
  const places = new Set(meantOnes.map(({ parsed }) => parsed.written.value));
  return places.size === 1 ? meantOnes : 'ambiguous';
}

function unknown(
  name: string,
  found: 'ambiguous' | undefined,
  { named: known }: Index,
): [message: string, more: { suggestion: string }] {
  if (found === 'ambiguous') {
    const all = (known.get(name) ?? []).map(({ id }) => `"${id}"`);
    return [`names several tests: "${name}"`, { suggestion: `use the full name: ${chainText(all, ' or ')}` }];
  }
  const suggestion =
    didYouMean(meant(name, [...known.keys()])) ?? 'tests are named by their name, or as tool/name';
  return [`names an unknown test: "${name}"`, { suggestion }];
}

/** Names whose values must come from another test. */
function capturesUsed({ test }: ParsedTest): Set<string> {
  const { validation_scripts: _, matrix: __, variables: ___, ...rest } = test;
  const own = new Set([
    ...test.setup.flatMap(({ capture }) => Object.keys(capture)),
    ...test.cleanup.flatMap(({ capture }) => Object.keys(capture)),
  ]);
  const used = referencesIn({ ...rest, expected: { ...rest.expected, expression: undefined } });
  // A reference with a default does not need the capture.
  return new Set(
    used
      .filter(({ reference }) => !reference.isEnvironment && reference.fallback === undefined)
      .map(({ reference }) => rootOf(reference.name))
      .filter((name) => !own.has(name)),
  );
}

/** The last test before it that captures the name, else the first one after it. */
function capturing(name: string, place: number, { capturing: known }: Index): Linked | undefined {
  const all = (known.get(name) ?? []).filter((one) => one.place !== place);
  return (all.findLast((one) => one.place < place) ?? all[0])?.test;
}

/** Orders tests after their dependencies, and otherwise as in the files. */
export function arrange(tests: readonly Linked[]): { order: Linked[]; faults: SpecFault[] } {
  const order: Linked[] = [];
  const faults: SpecFault[] = [];
  const state = new Map<Linked, 'open' | 'done'>();
  for (const first of tests) {
    if (state.has(first)) continue;
    // An explicit stack instead of recursion: there may be thousands of tests.
    const path: { test: Linked; next: number }[] = [{ test: first, next: 0 }];
    state.set(first, 'open');
    for (let here = path.at(-1); here !== undefined; here = path.at(-1)) {
      const before = here.test.dependsOn[here.next];
      here.next += 1;
      if (before === undefined) {
        state.set(here.test, 'done');
        order.push(here.test);
        path.pop();
      } else if (state.get(before) === 'open')
        faults.push(
          cycleFault(
            before,
            path.map(({ test }) => test),
          ),
        );
      else if (!state.has(before)) {
        state.set(before, 'open');
        path.push({ test: before, next: 0 });
      }
    }
  }
  return { order, faults };
}

function cycleFault(test: Linked, path: readonly Linked[]): SpecFault {
  const ids = [...path.slice(path.indexOf(test)), test].map(({ id }) => `"${id}"`);
  const { written } = test.parsed;
  const key = listOf(mapOf(written.value)['depends_on']).length > 0 ? 'depends_on' : 'dependencies';
  const message = `tests depend on each other in a cycle: ${chainText(ids, ' depends on ')}`;
  return written.source.fault([...written.at, key], message);
}
