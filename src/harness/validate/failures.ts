import type { Failure } from '../../contract/test-report.js';
import { failure, mismatch } from '../judge/failure.js';
import { bounded } from '../judge/shown.js';
import type { ScriptError } from './script-error.js';
import type { ScriptFailure } from './script-result.js';

/** What a script found, or an expression that has no name, as a failure of its test. */
export function failureOfScript({ message, line, path, ...values }: ScriptFailure, script?: string): Failure {
  const kind: Failure['kind'] = script === undefined ? 'expectation' : 'script';
  const more = { kind, ...(path === undefined ? {} : { path }) };
  const found =
    'expected' in values && 'actual' in values
      ? mismatch(message, values.expected, values.actual, more)
      : failure(message, { ...more, ...values });
  return { ...found, ...origin(script, line) };
}

/** A script that did not come to its end. What an assertion says is its finding; the rest is told with the script's name. */
export function failureOfError({ kind, message, details }: ScriptError, script?: string): Failure {
  const isFinding = kind === 'RuntimeError' && details.exception === 'AssertionError';
  const who = script === undefined ? 'The expressions' : `The script "${script}"`;
  const sentence = isFinding ? message : `${who} failed: ${message}`;
  return {
    kind: script === undefined ? 'expectation' : 'script',
    message: sentence,
    ...('expected' in details ? { expected: bounded(details.expected) } : {}),
    ...('actual' in details ? { actual: bounded(details.actual) } : {}),
    ...origin(script, details.line),
  };
}

const origin = (script: string | undefined, line: number | undefined): Pick<Failure, 'script' | 'line'> => ({
  ...(script === undefined ? {} : { script }),
  ...(line === undefined ? {} : { line }),
});
