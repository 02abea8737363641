import { exec } from 'jsonpath-rfc9535';
import parse from 'jsonpath-rfc9535/parser';
import { cut } from './shown.js';

export type Path = readonly (string | number)[];

export interface Selected {
  value: unknown;
  path: Path;
}

/** A path that selects more is not intended. */
const MAX_SELECTED = 100_000;

/** Returns what a JSONPath (RFC 9535) selects. Throws if the path is invalid. */
export function select(document: unknown, path: string): Selected[] {
  const selected: Selected[] = [];
  exec(document as Parameters<typeof exec>[0], path, (value, keys) => {
    if (selected.length >= MAX_SELECTED) throw new RangeError(`it selects more than ${MAX_SELECTED} values`);
    selected.push({ value, path: keys.map((key) => (typeof key === 'string' ? unescaped(key) : key)) });
  });
  return selected;
}

const MAX_KEPT = 1000;
const problems = new Map<string, string | undefined>();

/** Returns why a path is invalid; undefined if it is valid. */
export function pathProblem(path: string): string | undefined {
  if (problems.has(path)) return problems.get(path);
  const problem = problemOf(path);
  if (problems.size >= MAX_KEPT) problems.clear();
  problems.set(path, problem);
  return problem;
}

function problemOf(path: string): string | undefined {
  try {
    parse(path);
    return undefined;
  } catch (error) {
    if (!path.startsWith('$')) return 'is not a JSONPath: it must begin with $';
    const { location } = error as { location?: { start: { column: number } } };
    if (location === undefined) return `is not a JSONPath: ${cut((error as Error).message, 100)}`;
    const rest = path.slice(location.start.column - 1);
    return `is not a JSONPath: ${rest === '' ? 'it ends too early' : `it cannot be read from ${JSON.stringify(cut(rest, 40))} on`}`;
  }
}

/** Formats a path. */
export function pathText(path: Path): string {
  const parts = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `['${key.replace(/['\\]/g, '\\$&')}']`;
  });
  return `$${parts.join('')}`;
}

const ESCAPES: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Unescapes a key of a normalized path. */
const unescaped = (key: string): string =>
  key.replace(/\\(?:u([0-9a-f]{4})|(.))/g, (_, code: string | undefined, letter: string) =>
    code === undefined ? (ESCAPES[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  );
