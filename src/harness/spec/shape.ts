import type { z } from 'zod';
import { type Fault, faultsOf } from '../../gate/issue-text.js';
import { shown } from '../judge/shown.js';
import type { SpecFault, SpecPath } from './fault.js';
import { referencesIn } from './reference.js';
import type { Source } from './source.js';
import { suggestKey, suggestValue } from './suggest.js';

/** Of one value; who mends these will see the rest. */
const MOST_FAULTS = 200;

/** A value after substitution, and where it is written. */
export interface Written {
  source: Source;
  /** Of the value inside of the file. */
  at: SpecPath;
  value: unknown;
}

/** The value as the format wants it, and what is wrong with its shape. What is right by itself is there all the same. */
export function parseShape<S extends z.ZodType>(
  schema: S,
  { source, at, value }: Written,
): { data: z.infer<S> | undefined; faults: SpecFault[] } {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { data: parsed.data, faults: [] };
  const told = parsed.error.issues.flatMap(faultsOf);
  const all = told.slice(0, MOST_FAULTS);
  // A map is not complete where one of its keys is misspelt, which says nothing new.
  const found = all.filter(
    (fault) =>
      fault.reason.startsWith('must') || fault.isUnknownKey || !all.some((other) => isKeyOf(other, fault)),
  );
  const faults = found.map((fault) => specFault(fault, source, at, value));
  if (told.length > all.length) return { data: undefined, faults };
  const rest = found.reduce((left, { path }) => without(left, path), value);
  return { data: schema.safeParse(rest).data, faults };
}

const isKeyOf = ({ path, isUnknownKey }: Fault, { path: map }: Fault): boolean =>
  isUnknownKey === true && path.length === map.length + 1 && map.every((key, index) => key === path[index]);

function without(value: unknown, [key, ...rest]: readonly PropertyKey[]): unknown {
  if (key === undefined || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    // Others keep their places.
    return value.map((item, index) => (index === key ? without(item, rest) : item));
  }
  const entries = Object.entries(value).flatMap(([name, item]) => {
    if (name !== key) return [[name, item]];
    return rest.length === 0 ? [] : [[name, without(item, rest)]];
  });
  return Object.fromEntries(entries);
}

function specFault(
  { path, reason, isUnknownKey }: Fault,
  source: Source,
  at: SpecPath,
  value: unknown,
): SpecFault {
  const plain = path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  const full = [...at, ...plain];
  if (isUnknownKey) return source.fault(full, 'is not known', { suggestion: suggestKey(full), atKey: true });
  const given = valueAt(value, plain);
  if (given === undefined) return source.fault(full, `is missing; it ${reason}`);
  const captured = referencesIn(given).some(({ path: inner }) => inner.length === 0);
  const suggestion = captured
    ? 'what is captured while tests run can stand only where a text or any value may'
    : suggestValue(full, given);
  // A sentence of our own about a map as a whole needs no map after it.
  const isOwn = !reason.startsWith('must') && typeof given === 'object';
  return source.fault(full, isOwn ? `is not complete: ${reason}` : `${reason}; it is ${shown(given)}`, {
    suggestion,
  });
}

const valueAt = (value: unknown, path: SpecPath): unknown =>
  path.reduce<unknown>((one, key) => (one as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
