import { type Fault, faultsOf } from '@pungi/core/base';
import type { z } from 'zod';
import { shown } from '../judge/shown.js';
import type { Source, SpecFault, SpecPath } from './fault.js';
import { referencesIn } from './reference.js';
import { suggestKey, suggestValue } from './schema.js';

/** The limit per value; fixing these reveals the rest. */
const MOST_FAULTS = 200;
/** Nobody reads more, and each needs a search for a suggestion. */
const MOST_WARNINGS = 100;

/** A value after substitution, and its source. */
interface Written {
  source: Source;
  /** The path of the value in the file. */
  at: SpecPath;
  value: unknown;
}

interface Parsed<T> {
  /** Present even if another value is invalid. */
  data: T | undefined;
  faults: SpecFault[];
  /** Keys that are ignored. */
  warnings: SpecFault[];
}

/**
 * Parses a value and reports faults of its shape. As in mandrel, null means "not given", and an unknown key is ignored; here
 * with a warning.
 */
export function parseShape<S extends z.ZodType>(schema: S, written: Written): Parsed<z.infer<S>> {
  const parsed = schema.safeParse(written.value);
  if (parsed.success) return { data: parsed.data, faults: [], warnings: [] };
  const found = parsed.error.issues.flatMap((issue) => faultsOf(issue, Number.POSITIVE_INFINITY));
  const ignored = found.filter((fault) => isIgnored(fault, written));
  const open = found.filter((fault) => !isIgnored(fault, written) && isNull(fault, written.value));
  if (ignored.length + open.length === 0) return withFaults(schema, written, found);
  const paths = [...ignored, ...open].map(({ path }) => path);
  const rest = parseShape(schema, { ...written, value: without(written.value, paths) });
  return { ...rest, warnings: [...warningsFor(ignored, written), ...rest.warnings] };
}

function withFaults<S extends z.ZodType>(schema: S, written: Written, found: Fault[]): Parsed<z.infer<S>> {
  const all = found.slice(0, MOST_FAULTS);
  // A map with a misspelt key is also incomplete: one fault is enough.
  const relevant = all.filter(
    (fault) =>
      fault.reason.startsWith('must') || fault.isUnknownKey || !all.some((other) => isKeyOf(other, fault)),
  );
  const faults = relevant.map((fault) => specFault(fault, written));
  if (found.length > all.length) return { data: undefined, faults, warnings: [] };
  const rest = without(
    written.value,
    relevant.map(({ path }) => path),
  );
  return { data: schema.safeParse(rest).data, faults, warnings: [] };
}

/** Maps that only this format has: an unknown key there can only be a mistake. */
const OWN_MAPS = ['setup', 'cleanup', 'elicitation', 'progress', 'logs'];

const isIgnored = ({ path, isUnknownKey }: Fault, { at }: Written): boolean =>
  isUnknownKey === true && !OWN_MAPS.includes(String([...at, ...path].slice(0, -1).findLast(isName)));

const isName = (key: PropertyKey): key is string => typeof key === 'string';

const isNull = ({ path, isUnknownKey }: Fault, value: unknown): boolean =>
  isUnknownKey !== true && isName(path.at(-1) ?? 0) && valueAt(value, path) === null;

/** Keys of mandrel whose meaning is not implemented here. */
const NOT_DONE: Record<string, { message: string; suggestion: string }> = {
  error_tests: {
    message: 'is not a list, so it is not run',
    suggestion: 'list tests with name, tool, input and expected',
  },
  ...Object.fromEntries(
    ['security_constraints', 'performance_tests', 'error_injection_tests', 'expected_errors'].map((key) => [
      `expected.${key}`,
      {
        message: 'is not checked by Pungi and is ignored',
        suggestion: 'check it with a validation script',
      },
    ]),
  ),
};

function warningsFor(ignored: readonly Fault[], { source, at }: Written): SpecFault[] {
  const shown = ignored.slice(0, MOST_WARNINGS).map(({ path }) => {
    const full = [...at, ...path.map((key) => (typeof key === 'symbol' ? String(key) : key))];
    const { message, suggestion } = NOT_DONE[full.slice(-2).join('.')] ?? {
      message: 'is not known and is ignored',
      suggestion: suggestKey(full),
    };
    return source.fault(full, message, { suggestion, atKey: true });
  });
  const left = ignored.length - shown.length;
  return left === 0 ? shown : [...shown, source.fault(at, `has ${left} more unknown keys`)];
}

const isKeyOf = ({ path, isUnknownKey }: Fault, { path: map }: Fault): boolean =>
  isUnknownKey === true && path.length === map.length + 1 && map.every((key, index) => key === path[index]);

/** Removes the values at the paths. Items of lists keep their positions. */
function without(value: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  if (paths.length === 0 || typeof value !== 'object' || value === null) return value;
  const below = new Map<PropertyKey, PropertyKey[][]>();
  for (const [key, ...rest] of paths) {
    if (key === undefined) continue;
    const there = below.get(key);
    if (there === undefined) below.set(key, [rest]);
    else there.push(rest);
  }
  if (Array.isArray(value)) return value.map((item, index) => without(item, below.get(index) ?? []));
  const entries = Object.entries(value).flatMap(([name, item]) => {
    const inner = below.get(name) ?? [];
    return inner.some((rest) => rest.length === 0) ? [] : [[name, without(item, inner)]];
  });
  return Object.fromEntries(entries);
}

function specFault({ path, reason, isUnknownKey }: Fault, { source, at, value }: Written): SpecFault {
  const plain = path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  const full = [...at, ...plain];
  if (isUnknownKey) return source.fault(full, 'is not known', { suggestion: suggestKey(full), atKey: true });
  const given = valueAt(value, plain);
  if (given === undefined) return source.fault(full, `is missing; it ${reason}`);
  const captured = referencesIn(given).some(({ path: inner }) => inner.length === 0);
  const suggestion = captured
    ? 'a captured value is allowed only where text or any value is'
    : suggestValue(full, given);
  // Our own message about a whole map does not repeat the map.
  const isOwn = !reason.startsWith('must') && typeof given === 'object';
  return source.fault(full, isOwn ? `is not complete: ${reason}` : `${reason}; it is ${shown(given)}`, {
    suggestion,
  });
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((one, key) => (one as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
