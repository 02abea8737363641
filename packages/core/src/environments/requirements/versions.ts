import { invalidInput } from '../../base/errors.js';
import { type Interpreter, OLDEST_PYTHON } from '../../sandbox/interpreter.js';

/** A version as PEP 440 reads it. Numbers are unbounded there, hence bigint. */
export interface Version {
  /** The normalised spelling. */
  text: string;
  epoch: bigint;
  release: bigint[];
  isPre: boolean;
  isPost: boolean;
  isDev: boolean;
  isLocal: boolean;
}

// The pattern in appendix B of PEP 440. Only ASCII digits: its `\d` would take those of any script.
const VERSION =
  /^v?(?:(?<epoch>[0-9]+)!)?(?<release>[0-9]+(?:\.[0-9]+)*)(?<pre>[-_.]?(?<preLetter>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?<preNumber>[0-9]+)?)?(?<post>-(?<postBare>[0-9]+)|[-_.]?(?:post|rev|r)[-_.]?(?<postNumber>[0-9]+)?)?(?<dev>[-_.]?dev[-_.]?(?<devNumber>[0-9]+)?)?(?:\+(?<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$/i;

const PRE_LETTERS: Record<string, string> = { alpha: 'a', beta: 'b', c: 'rc', pre: 'rc', preview: 'rc' };

/** Returns undefined if the text is not a version. */
export function parseVersion(text: string): Version | undefined {
  const parts = VERSION.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const epoch = BigInt(parts['epoch'] ?? 0);
  const release = parts['release']!.split('.').map(BigInt);
  const pieces = [epoch > 0n ? `${epoch}!` : '', release.join('.')];
  if (parts['pre'] !== undefined) {
    const letter = parts['preLetter']!.toLowerCase();
    pieces.push(`${PRE_LETTERS[letter] ?? letter}${BigInt(parts['preNumber'] ?? 0)}`);
  }
  if (parts['post'] !== undefined) {
    pieces.push(`.post${BigInt(parts['postBare'] ?? parts['postNumber'] ?? 0)}`);
  }
  if (parts['dev'] !== undefined) pieces.push(`.dev${BigInt(parts['devNumber'] ?? 0)}`);
  if (parts['local'] !== undefined) pieces.push(`+${normaliseLocal(parts['local'])}`);
  return {
    text: pieces.join(''),
    epoch,
    release,
    isPre: parts['pre'] !== undefined,
    isPost: parts['post'] !== undefined,
    isDev: parts['dev'] !== undefined,
    isLocal: parts['local'] !== undefined,
  };
}

function normaliseLocal(local: string): string {
  return local
    .toLowerCase()
    .split(/[-_.]/)
    .map((part) => (/^[0-9]+$/.test(part) ? String(BigInt(part)) : part))
    .join('.');
}

/** Compares two lists of release numbers: the shorter one is padded with zeros. */
function compareReleases(left: readonly bigint[], right: readonly bigint[]): number {
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const [one, other] = [left[index] ?? 0n, right[index] ?? 0n];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

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

/** A requested Python; omitted fields match any. */
export interface WantedPython {
  /** `3.12` or `3.12.1`. */
  version?: string | undefined;
  /** As in `requires-python`: `>=3.11,<3.13`. */
  specifier?: string | undefined;
}

/** Checks a version of Python: never a path, a command or a range. */
export function parsePythonVersion(text: unknown): string {
  if (typeof text !== 'string' || !/^(?:0|[1-9]\d?)(?:\.(?:0|[1-9]\d{0,2})){1,2}$/.test(text)) {
    throw invalidInput(
      'A version of Python is written as "3.12" or "3.12.1"; paths and commands are not taken.',
    );
  }
  const [major = 0, minor = 0] = text.split('.').map(Number);
  if (major !== OLDEST_PYTHON[0] || minor < OLDEST_PYTHON[1]) {
    throw invalidInput(`Python ${text} cannot be used: it takes Python ${OLDEST_PYTHON.join('.')} or newer.`);
  }
  return text;
}

/** Whether a released version of Python satisfies the specifier. */
export function satisfies(version: string, specifier: string): boolean {
  const clauses = parseSpecifier(specifier);
  if (typeof clauses === 'string') {
    throw invalidInput(`The versions of Python are not a specifier such as ">=3.11,<3.14": ${clauses}.`);
  }
  const candidate = parseVersion(version);
  if (candidate === undefined) throw invalidInput(`${JSON.stringify(version)} is not a version of Python.`);
  return clauses.every((clause) => meets(candidate, clause));
}

/** Returns the first suitable one; they are sorted with the best one first. */
export function choosePython(
  found: readonly Interpreter[],
  { version, specifier }: WantedPython,
): Interpreter | undefined {
  return found.find(
    (one) =>
      (version === undefined || one.version === version || one.version.startsWith(`${version}.`)) &&
      (specifier === undefined || satisfies(one.version, specifier)),
  );
}

function meets(candidate: Version, { operator, version, isPrefix, text }: Clause): boolean {
  const order = compareFinal(candidate, version);
  switch (operator) {
    case '==':
      return isPrefix ? hasPrefix(candidate, version, version.release.length) : order === 0;
    case '!=':
      return isPrefix ? !hasPrefix(candidate, version, version.release.length) : order !== 0;
    case '>=':
      return order >= 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '<':
      return order < 0;
    case '~=':
      return order >= 0 && hasPrefix(candidate, version, version.release.length - 1);
    case '===':
      return text === `===${candidate.text}`;
  }
}

/** Orders a final release against any version: only the other can have a suffix. */
function compareFinal(candidate: Version, other: Version): number {
  if (candidate.epoch !== other.epoch) return candidate.epoch < other.epoch ? -1 : 1;
  const order = compareReleases(candidate.release, other.release);
  if (order !== 0) return order;
  if (other.isPre) return 1;
  if (other.isPost) return -1;
  if (other.isDev) return 1;
  return other.isLocal ? -1 : 0;
}

function hasPrefix(candidate: Version, { epoch, release }: Version, length: number): boolean {
  const padded = Array.from({ length }, (_, index) => candidate.release[index] ?? 0n);
  return candidate.epoch === epoch && compareReleases(padded, release.slice(0, length)) === 0;
}
