import type { Failure } from '../../contract/test-report.js';
import { mismatch } from './failure.js';
import { jsonEqual } from './json-equal.js';
import { shown, typeOf } from './shown.js';

/** The whole answer, in whichever of its forms is of the type that is expected. */
export function judgeEquals(expected: unknown, documents: readonly unknown[]): Failure[] {
  if (documents.some((document) => jsonEqual(expected, document))) return [];
  const actual = documents.find((document) => typeOf(document) === typeOf(expected)) ?? documents[0];
  return [mismatch(`The answer should be ${shown(expected)}, and is ${shown(actual)}.`, expected, actual)];
}
