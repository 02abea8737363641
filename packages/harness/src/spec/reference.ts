import { parse } from 'yaml';

/** ${name}, ${name.part}, ${env:NAME}, each with or without a default: ${name:-default}. */
export interface Reference {
  /** The source text, with the braces. */
  text: string;
  isEnvironment: boolean;
  name: string;
  fallback: string | undefined;
}

/**
 * A doubled $ escapes a reference: $${name}. A default ends where another reference begins, or matching a text full of
 * unfinished references would take quadratic time.
 */
const REFERENCE = /\$(\$?)\{(env:)?([A-Za-z_][\w-]*(?:\.[\w-]+)*)(?::-((?:[^}$]|\$(?!\{))*))?\}/g;

interface Piece {
  /** Undefined for plain text. */
  reference?: Reference;
  text: string;
  isEscaped: boolean;
}

/** Splits a text at its references. Without references, it is one piece. */
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

/** Escapes references, so that the last substitution restores the text. */
export const escapeReferences = (text: string): string => text.replace(REFERENCE, (whole) => `$${whole}`);

/** All references in a value, with their paths. Keys are ignored. */
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

/** A default that is the whole text is parsed as YAML: ${count:-5} is a number. */
export function fallbackValue(text: string): unknown {
  try {
    return parse(text) as unknown;
  } catch {
    return text;
  }
}
