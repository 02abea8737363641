import type { JsonMap } from '../judge/answer.js';
import { chainText, type Source, type SpecFault, type SpecPath } from './fault.js';
import { mapOf } from './raw.js';
import { type Reference, referencesIn } from './reference.js';
import { didYouMean, meant } from './schema.js';

import { rootOf, type Scope, valueIn } from './substitute.js';

/** Values that are known before any test runs. */
export interface Known {
  variables: JsonMap;
  /** Names that are known only while tests run. */
  captured: ReadonlySet<string>;
  environment: Readonly<Record<string, string | undefined>>;
}

/** A capture overrides a variable of the same name, so that name is left for later. */
export function scopeOf({ variables, captured, environment }: Known, nearer: readonly JsonMap[] = []): Scope {
  const early = Object.fromEntries(Object.entries(variables).filter(([name]) => !captured.has(name)));
  return { variables: [...nearer, early], captured: {}, environment };
}

/** Finds references that remain after all known values are substituted. */
export function unknownReferences(
  { source, at, value }: { source: Source; at: SpecPath; value: unknown },
  known: Known,
  later: ReadonlySet<string>,
  nearer: readonly string[] = [],
): SpecFault[] {
  return referencesIn(value)
    .filter(({ reference: { isEnvironment, name, fallback } }) => {
      if (isEnvironment) return fallback === undefined;
      return fallback === undefined && !later.has(rootOf(name));
    })
    .map(({ path, reference }) => {
      const { message, suggestion } = unknown(reference, known, [...later, ...nearer]);
      return source.fault([...at, ...path], message, { suggestion });
    });
}

function unknown(
  { isEnvironment, name, text }: Reference,
  { variables, captured, environment }: Known,
  more: readonly string[],
): { message: string; suggestion: string } {
  if (isEnvironment) {
    const message = `uses ${text}, but the environment variable ${name} is not set`;
    return { message, suggestion: `set it, or give a default: \${env:${name}:-…}` };
  }
  if (captured.has(rootOf(name))) {
    const message = `uses ${text}, which is captured while tests run, but this must be known before`;
    return { message, suggestion: 'write the value, or use a variable' };
  }
  if (valueIn(variables, rootOf(name)) !== undefined && rootOf(name) !== name)
    return {
      message: `uses ${text}, but the variable "${rootOf(name)}" has no such part`,
      suggestion: 'correct the name',
    };
  const close = didYouMean(meant(name, [...Object.keys(variables), ...captured, ...more]));
  const isSet = environment[name] !== undefined;
  return {
    message: `uses ${text}, but there is no such variable or capture`,
    suggestion: close ?? (isSet ? `did you mean \${env:${name}}?` : `for the literal text, write $${text}`),
  };
}

/** Reports variables in a cycle, and variables that use unknown ones. */
export function variableFaults(source: Source, known: Known): SpecFault[] {
  const own = mapOf(mapOf(source.data)['variables']);
  const uses = usesOf(known.variables);
  const circles = Object.keys(own).flatMap((name) => {
    const cycle = cycleFrom(name, uses);
    if (cycle === undefined) return [];
    const message = `refers to itself: ${chainText(cycle, ' uses ')}`;
    return [source.fault(['variables', name], message, { atKey: true })];
  });
  const defined = new Set([...Object.keys(known.variables), ...known.captured]);
  return [
    ...circles,
    ...unknownReferences({ source, at: ['variables'], value: own }, known, defined).filter(
      // A missing environment variable is reported where the variable is used.
      ({ message }) => !message.includes('environment variable'),
    ),
  ];
}

/** Which variables each variable uses. */
const usesOf = (variables: JsonMap): Map<string, Set<string>> =>
  new Map(
    Object.entries(variables).map(([name, value]) => {
      const used = referencesIn(value)
        .filter(({ reference }) => !reference.isEnvironment)
        .map(({ reference }) => rootOf(reference.name));
      return [name, new Set(used.filter((one) => Object.hasOwn(variables, one)))];
    }),
  );

/** The shortest cycle through a variable. Other cycles are reported at their own variables. */
function cycleFrom(name: string, uses: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const before = new Map<string, string>();
  const open = [name];
  for (const here of open)
    for (const next of uses.get(here) ?? []) {
      if (next === name) return pathBack(name, here, before);
      if (before.has(next)) continue;
      before.set(next, here);
      open.push(next);
    }
  return undefined;
}

function pathBack(name: string, last: string, before: ReadonlyMap<string, string>): string[] {
  const way = [name];
  for (let here = last; here !== name; here = before.get(here)!) way.push(here);
  return [...way, name].toReversed();
}
