import type { Failure } from '@pungi/core/contract';
import { diff } from './diff.js';
import { bounded } from './shown.js';

interface Particulars {
  kind?: Failure['kind'];
  path?: string;
  expected?: unknown;
  actual?: unknown;
}

/** Makes a failure whose values are shortened for people. */
export function failure(
  message: string,
  { kind = 'expectation', path, ...values }: Particulars = {},
): Failure {
  return {
    kind,
    message,
    ...(path === undefined ? {} : { path }),
    ...('expected' in values ? { expected: bounded(values.expected) } : {}),
    ...('actual' in values ? { actual: bounded(values.actual) } : {}),
  };
}

/** Makes a failure for two values that should be equal, with a diff if they are large. */
export function mismatch(
  message: string,
  expected: unknown,
  actual: unknown,
  more: Particulars = {},
): Failure {
  const made = failure(message, { ...more, expected, actual });
  const isLarge = [expected, actual].some(
    (value) =>
      (typeof value === 'object' && value !== null) || (typeof value === 'string' && value.length > 40),
  );
  return isLarge ? { ...made, diff: diff(expected, actual) } : made;
}
