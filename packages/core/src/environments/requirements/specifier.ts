import { parseVersion, type Version } from './version.js';

const OPERATORS = ['===', '==', '~=', '!=', '<=', '>=', '<', '>'] as const;
export type Operator = (typeof OPERATORS)[number];

const MAX_LENGTH = 500;

/** One clause of a specifier: `>=1.2`, `==1.*`. */
export interface Clause {
  operator: Operator;
  version: Version;
  /** `==1.*`: the version is a prefix. */
  isPrefix: boolean;
  /** The normalised spelling. */
  text: string;
}

/** Returns a clause, or a sentence about why it is invalid. */
export function parseClause(operator: Operator, written: string): Clause | string {
  const isPrefix = written.endsWith('.*');
  const version = parseVersion(isPrefix ? written.slice(0, -2) : written);
  if (version === undefined) {
    return `${JSON.stringify(written)} is not a version as PEP 440 defines it`;
  }
  const why = misuse(operator, version, isPrefix);
  if (why !== undefined) return why;
  // `===` compares spellings, so its version keeps the one it was given.
  const text = operator === '===' ? written.toLowerCase() : `${version.text}${isPrefix ? '.*' : ''}`;
  return { operator, version, isPrefix, text: `${operator}${text}` };
}

function misuse(operator: Operator, version: Version, isPrefix: boolean): string | undefined {
  const isEquality = operator === '==' || operator === '!=';
  if (isPrefix) {
    if (!isEquality) return `".*" goes only with "==" and "!=", not with "${operator}"`;
    if (version.isPre || version.isPost || version.isDev || version.isLocal) {
      return '".*" goes only after the numbers of a release';
    }
  }
  if (version.isLocal && !isEquality && operator !== '===') {
    return `a local version ("+…") goes only with "==" and "!=", not with "${operator}"`;
  }
  if (operator === '~=' && version.release.length < 2) {
    return `"~=" needs a version of at least two numbers, such as "~=${version.text}.0"`;
  }
  return undefined;
}

/** Renders clauses in a fixed order without duplicates, so that equal sets are equal texts. */
export function renderSpecifier(clauses: readonly Clause[]): string {
  return [...new Set(clauses.map((clause) => clause.text))].sort().join(',');
}

/** Parses clauses separated by commas, as in `requires-python`, or returns what is wrong. */
export function parseSpecifier(text: string): Clause[] | string {
  const clauses: Clause[] = [];
  if (text.trim() === '') return clauses;
  if (text.length > MAX_LENGTH) return `it is longer than ${MAX_LENGTH} characters`;
  for (const part of text.split(',')) {
    const written = part.trim();
    const operator = OPERATORS.find((candidate) => written.startsWith(candidate));
    if (operator === undefined) {
      return `${JSON.stringify(written)} does not start with one of ${OPERATORS.join(' ')}`;
    }
    const clause = parseClause(operator, written.slice(operator.length).trim());
    if (typeof clause === 'string') return clause;
    clauses.push(clause);
  }
  return clauses;
}
