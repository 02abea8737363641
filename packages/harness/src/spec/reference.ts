import { parse } from 'yaml';

/** ${name}, ${name.part}, ${env:NAME}, each with or without a default: ${name:-default}. */
export interface Reference {
  /** As it is written, with the braces. */
  text: string;
  isEnvironment: boolean;
  name: string;
  fallback: string | undefined;
}

/**
 * One $ too many keeps the text as it is: $${name}. A default ends where another reference begins, or a text of
 * beginnings alone would take the square of its length.
 */
const REFERENCE = /\$(\$?)\{(env:)?([A-Za-z_][\w-]*(?:\.[\w-]+)*)(?::-((?:[^}$]|\$(?!\{))*))?\}/g;

interface Piece {
  /** Undefined where it is text. */
  reference?: Reference;
  text: string;
  isEscaped: boolean;
}

/** A text taken apart. Without references, it is one piece. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(REFERENCE)) {
    const [whole, dollar, environment, name, fallback] = match;
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), isEscaped: false });
    end = match.index + whole.length;
    if (dollar !== '') pieces.push({ text: whole, isEscaped: true });
    else {
      const reference = { text: whole, isEnvironment: environment !== undefined, name: name!, fallback };
      pieces.push({ reference, text: whole, isEscaped: false });
    }
  }
  if (end < text.length || pieces.length === 0) pieces.push({ text: text.slice(end), isEscaped: false });
  return pieces;
}

/** So that the last substitution gives the text itself. */
export const escapeReferences = (text: string): string => text.replace(REFERENCE, (whole) => `$${whole}`);

/** All references inside of a value, each with its place. Keys are not looked at. */
export function referencesIn(value: unknown): { path: (string | number)[]; reference: Reference }[] {
  if (typeof value === 'string') {
    if (!value.includes('${')) return [];
    return piecesOf(value).flatMap(({ reference }) =>
      reference === undefined ? [] : [{ path: [], reference }],
    );
  }
  if (typeof value !== 'object' || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return entries.flatMap(([key, item]) =>
    referencesIn(item).map(({ path, reference }) => ({ path: [key, ...path], reference })),
  );
}

/** A default that stands alone is read as YAML: ${count:-5} is a number. */
export function fallbackValue(text: string): unknown {
  try {
    return parse(text) as unknown;
  } catch {
    return text;
  }
}
