import { PungiError } from '../../base/errors.js';
import { type Interpreter, OLDEST_PYTHON } from '../../sandbox/interpreter.js';
import { type Clause, parseSpecifier } from './specifier.js';
import { compareReleases, parseVersion, type Version } from './version.js';

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
    throw invalid('A version of Python is written as "3.12" or "3.12.1"; paths and commands are not taken.');
  }
  const [major = 0, minor = 0] = text.split('.').map(Number);
  if (major !== OLDEST_PYTHON[0] || minor < OLDEST_PYTHON[1]) {
    throw invalid(`Python ${text} cannot be used: it takes Python ${OLDEST_PYTHON.join('.')} or newer.`);
  }
  return text;
}

/** Whether a released version of Python satisfies the specifier. */
export function satisfies(version: string, specifier: string): boolean {
  const clauses = parseSpecifier(specifier);
  if (typeof clauses === 'string') {
    throw invalid(`The versions of Python are not a specifier such as ">=3.11,<3.14": ${clauses}.`);
  }
  const candidate = parseVersion(version);
  if (candidate === undefined) throw invalid(`${JSON.stringify(version)} is not a version of Python.`);
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

const invalid = (sentence: string) => new PungiError('INVALID_INPUT', sentence, { issues: [sentence] });
