import type { Expected } from '../../contract/spec.js';
import type { Failure } from '../../contract/test-report.js';
import { type Answer, isErrorResult, textOf, wholeOf } from './answer.js';
import { failure } from './failure.js';
import { cut, shown } from './shown.js';
import { judgePattern } from './text.js';

/** Whoever says which error it is expects one, unless any answer will do. */
const expectsError = (expected: Expected): boolean =>
  expected.error === true ||
  expected.error_code !== undefined ||
  expected.error_message_contains !== undefined ||
  expected.error_message_pattern !== undefined;

export interface Ending {
  failures: Failure[];
  /** An answer of another kind would fail everything else as well, and say nothing new. */
  isLast: boolean;
}

/** Whether the call failed, succeeded or was cancelled as expected. */
export function judgeEnding(expected: Expected, answer: Answer): Ending {
  const ended = (problem: Failure | undefined): Ending => ({
    failures: problem === undefined ? [] : [problem],
    isLast: problem !== undefined || answer.kind === 'cancelled',
  });
  if (expected.cancelled === true || answer.kind === 'cancelled')
    return ended(cancellation(expected, answer));
  const failed = answer.kind === 'error' || isErrorResult(answer);
  // What else is expected is said of a result: an error is held only against what is said of errors.
  if (expected.error === 'any')
    return { failures: failed ? judgeError(expected, answer) : [], isLast: failed };
  if (failed && expectsError(expected)) return { failures: judgeError(expected, answer), isLast: false };
  if (failed) return ended(unexpected(answer));
  if (!expectsError(expected)) return ended(undefined);
  return ended(
    failure(`The call should have failed, and it succeeded with ${said(answer)}.`, {
      actual: wholeOf(answer),
    }),
  );
}

function cancellation({ cancelled }: Expected, answer: Answer): Failure | undefined {
  const kind = 'cancellation';
  if (answer.kind === 'cancelled')
    return cancelled === true
      ? undefined
      : failure('The call was cancelled before it was answered.', { kind });
  return failure(`The call should have been cancelled, and was answered with ${said(answer)}.`, {
    kind,
    actual: wholeOf(answer),
  });
}

function unexpected(answer: Answer): Failure {
  const how = answer.kind === 'error' ? `error ${answer.code}` : 'an error result';
  return failure(`The call should have succeeded, and failed with ${how}: ${cut(textOf(answer), 500)}`, {
    actual: wholeOf(answer),
  });
}

const said = (answer: Answer) => shown(textOf(answer) || wholeOf(answer));

function judgeError(expected: Expected, answer: Answer): Failure[] {
  const found: Failure[] = [];
  const { error_code: code, error_message_contains: part, error_message_pattern: pattern } = expected;
  const message = textOf(answer);
  if (code !== undefined && answer.kind !== 'error') {
    const why = 'the error is a result with isError, which has no code';
    found.push(failure(`The error code should be ${code}, but ${why}.`, { expected: code, actual: message }));
  }
  if (code !== undefined && answer.kind === 'error' && answer.code !== code) {
    const sentence = `The error code should be ${code}, and is ${answer.code}: ${cut(message, 300)}`;
    found.push(failure(sentence, { expected: code, actual: answer.code }));
  }
  if (part !== undefined && !message.includes(part)) {
    const sentence = `The error message should contain ${shown(part)}, and is ${shown(message)}.`;
    found.push(failure(sentence, { expected: part, actual: message }));
  }
  if (pattern !== undefined) found.push(...judgePattern('The error message', pattern, message));
  return found;
}
