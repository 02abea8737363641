import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** A problem at one place of the input, phrased for people. */
export interface Fault {
  path: PropertyKey[];
  reason: string;
  /** The key is not part of the schema. */
  isUnknownKey?: boolean;
}

/**
 * Lists all faults of a JSON value, such as: files.0.path: must be a text. With the schema, an unknown name comes with the
 * known one that is most like it; if there is none, the last lines list those that are known.
 */
export function jsonFaults({ issues }: z.ZodError, schema?: z.ZodType): string[] {
  const lists = new Set<string>();
  const faults = issues.flatMap((issue) =>
    faultsOf(issue).map(({ path, reason, isUnknownKey }) => {
      const known = isUnknownKey && schema ? namesAt(path.slice(0, -1), schema) : [];
      const meant = meantName(String(path.at(-1)), known);
      const advice = meant === undefined ? '' : `; did you mean "${meant}"?`;
      if (meant === undefined && known.length > 0)
        lists.add(atPath(path.slice(0, -1), `use one of ${known.join(', ')}`));
      const requirement = `${reason.replace('must be a map', 'must be an object')}${advice}`;
      const isMissing = issue.message.endsWith('received undefined');
      return atPath(path, isMissing ? `is missing; it ${requirement}` : requirement);
    }),
  );
  return faults.length < MOST_UNKNOWN ? [...faults, ...lists] : faults;
}

const atPath = (path: readonly PropertyKey[], problem: string): string =>
  path.length === 0 ? problem : `${path.map(String).join('.')}: ${problem}`;

const plain = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, '');

/** Returns the name that somebody meant, if one is like it. */
function meantName(given: string, known: readonly string[]): string | undefined {
  const begun = plain(given).length < 3 ? [] : known.filter((name) => plain(name).startsWith(plain(given)));
  return begun.length === 1 ? begun[0] : similarName(given, known);
}

/** Returns the names that an object at this place may have. */
function namesAt(path: readonly PropertyKey[], schema: z.ZodType): string[] {
  let at: unknown = schema;
  for (const key of path) {
    const { shape, element } = bare(at);
    at = typeof key === 'number' ? element : shape?.[String(key)];
  }
  return Object.keys(bare(at).shape ?? {});
}

/** Removes "optional" and the like from a schema. */
function bare(schema: unknown): { shape?: Record<string, unknown>; element?: unknown } {
  let inner = schema as { unwrap?: () => unknown; shape?: Record<string, unknown>; element?: unknown };
  while (inner?.shape === undefined && inner?.element === undefined && typeof inner?.unwrap === 'function')
    inner = inner.unwrap() as typeof inner;
  return inner ?? {};
}

const TYPES: Record<string, string> = {
  string: 'a text',
  array: 'a list',
  object: 'a map',
  record: 'a map',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};

/** More unknown keys than this are not listed. */
const MOST_UNKNOWN = 100;

/** Converts an issue of zod into faults. For a union it reports the issues of the branch that the input resembles. */
export function faultsOf(issue: Issue, mostUnknown = MOST_UNKNOWN): Fault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, mostUnknown).map((key) => ({
      path: [...issue.path, key],
      reason: 'is not known',
      isUnknownKey: true,
    }));
  }
  if (issue.code === 'invalid_key')
    return [{ path: issue.path, reason: reasonsOf(issue.issues)[0] ?? issue.message }];
  if (issue.code !== 'invalid_union') return [{ path: issue.path, reason: reasonOf(issue) }];
  if ('options' in issue && issue.errors.length === 0)
    return [{ path: issue.path, reason: `must be one of ${issue.options?.map(String).join(', ')}` }];
  const inside = insideOf(issue.errors).map((fault) => ({ ...fault, path: [...issue.path, ...fault.path] }));
  if (inside.length > 0) return inside;
  const [first, ...others] = new Set(reasonsOf(issue.errors.flat()));
  const reason = [first, ...others.map((other) => other.replace(/^must be /, ''))].join(' or ');
  return [{ path: issue.path, reason }];
}

/**
 * Returns the faults of the branch that the input resembles, or the allowed discriminator values if it matches none.
 */
function insideOf(branches: readonly Issue[][]): Fault[] {
  const forMaps = branches.filter((branch) =>
    branch.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  const meant = forMaps.find((branch) => !branch.some(isOtherDiscriminator));
  if (meant !== undefined) return meant.flatMap((issue) => faultsOf(issue));
  const others = forMaps.flatMap((branch) => branch.filter(isOtherDiscriminator));
  const [first] = others;
  if (first === undefined || others.length === 1 || others.some(({ path }) => path[0] !== first.path[0]))
    return (forMaps[0] ?? []).flatMap((issue) => faultsOf(issue));
  const allowed = others.flatMap(({ values }) => values.map(String));
  return [{ path: first.path, reason: `must be one of ${[...new Set(allowed)].join(', ')}` }];
}

/** The issue says that the discriminator of a union's branch does not match. */
const isOtherDiscriminator = (issue: Issue): issue is z.core.$ZodIssueInvalidValue =>
  issue.code === 'invalid_value' && issue.path.length === 1;

const reasonsOf = (issues: readonly Issue[]) =>
  issues.flatMap((issue) => faultsOf(issue)).map(({ reason }) => reason);

/** The beginnings of zod's own messages; other messages come from Pungi's schemas and are kept. */
const NOT_OURS = /^(Invalid|Too small|Too big|Unrecognized)/;

function reasonOf(issue: Issue): string {
  if (!NOT_OURS.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      if (issue.origin === 'string') return 'must not be empty';
      if (issue.origin === 'array') return `must have at least ${issue.minimum} items`;
      return `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `must have at most ${issue.maximum} characters`;
      if (issue.origin === 'array') return `must have at most ${issue.maximum} items`;
      return `must be at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

/** Names that differ by more than this, or by more than one change per three letters, are not similar. */
const MOST_CHANGES = 2;
const LETTERS_PER_CHANGE = 3;

/** Returns the closest known name, if it is close enough to be a typo. */
export function similarName(name: string, known: readonly string[]): string | undefined {
  const allowed = Math.min(MOST_CHANGES, Math.floor(name.length / LETTERS_PER_CHANGE));
  const distances = known
    // Each change makes a name longer or shorter by at most one character, which is one or two UTF-16 units.
    .filter((other) => Math.abs(other.length - name.length) <= 2 * allowed)
    .map((other) => ({ other, changes: changesBetween(name.toLowerCase(), other.toLowerCase()) }));
  const [closest] = distances.sort((a, b) => a.changes - b.changes);
  return closest !== undefined && closest.changes <= allowed ? closest.other : undefined;
}

/** Returns the Damerau-Levenshtein distance of two names. */
function changesBetween(one: string, other: string): number {
  const [letters, opposites] = [[...one], [...other]];
  let before: number[] = [];
  let row = Array.from({ length: opposites.length + 1 }, (_, index) => index);
  for (const [index, letter] of letters.entries()) {
    const next = [index + 1];
    for (const [place, opposite] of opposites.entries()) {
      const replaced = row[place]! + (letter === opposite ? 0 : 1);
      const isSwapped = letter === opposites[place - 1] && letters[index - 1] === opposite;
      const swapped = isSwapped ? before[place - 1]! + 1 : replaced;
      next.push(Math.min(replaced, swapped, row[place + 1]! + 1, next[place]! + 1));
    }
    before = row;
    row = next;
  }
  return row.at(-1)!;
}
