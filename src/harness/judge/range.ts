import type { Expected } from '../../contract/spec.js';
import type { Failure } from '../../contract/test-report.js';
import { failure } from './failure.js';

/** How many there should have been. */
export function judgeRange(what: string, expected: Expected['progress'], actual: number): Failure[] {
  if (expected === undefined) return [];
  const { min = 0, max = Number.POSITIVE_INFINITY } =
    typeof expected === 'number' ? { min: expected, max: expected } : expected;
  if (actual >= min && actual <= max) return [];
  const should = min === max ? `${min}` : actual < min ? `at least ${min}` : `at most ${max}`;
  return [
    failure(`There should have been ${should} ${what}, and there were ${actual}.`, { expected, actual }),
  ];
}
