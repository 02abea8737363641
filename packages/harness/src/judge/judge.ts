import type { Expected, Failure, TestCase } from '@pungi/core/contract';
import {
  type Answer,
  documentsOf,
  isErrorResult,
  isTooDeep,
  MAX_DEPTH,
  textOf,
  viewsOf,
  wholeOf,
  withinTime,
} from './answer.js';
import { jsonEqual } from './diff.js';
import { failure, mismatch } from './failure.js';
import { judgeExtraFields, judgeField } from './fields.js';
import { type Figures, judgePerformance } from './performance.js';
import { judgeSchema, type NamedSchema } from './schema.js';
import { cut, shown, typeOf } from './shown.js';
import { judgeSnapshot, snapshotOf } from './snapshot.js';
import { judgePattern, judgeText } from './text.js';

/** What a test asks for. The schemas are those of its `schema` and `schema_file`, read. */
interface Asked {
  expected: Expected;
  performance?: TestCase['performance'];
  schemas?: readonly NamedSchema[];
}

/** What else is known of the call. */
export interface Facts extends Figures {
  progress: number;
  logs: number;
  /** What was kept under this name; without it, there is nothing to compare with yet. */
  snapshot?: { name: string; kept: unknown } | undefined;
}

const MAX_MS = 3000;

/** Everything that is not as the test asks. Pure, bounded in time, and it never throws, whatever was answered. */
export function judge(asked: Asked, answer: Answer, facts: Facts, maxMs = MAX_MS): Failure[] {
  const { expected, performance } = asked;
  return [
    ...judgeContent(asked, answer, facts, maxMs),
    ...judgeRange('progress notifications', expected.progress, facts.progress),
    ...judgeRange('log messages', expected.logs, facts.logs),
    ...judgePerformance(expected, performance, facts),
  ];
}

function judgeContent(asked: Asked, answer: Answer, facts: Facts, maxMs: number): Failure[] {
  const body = answer.kind === 'result' ? answer.result : answer.kind === 'error' ? answer.data : null;
  if (isTooDeep(body))
    return [failure(`The answer is nested more than ${MAX_DEPTH} levels deep, so it was not looked into.`)];
  const found: Failure[] = [];
  let now = '';
  const work = () => {
    for (const { by, look } of checksOf(asked, answer, facts)) {
      now = by;
      try {
        const { failures, isLast = false } = look();
        found.push(...failures);
        if (isLast) return;
      } catch (error) {
        found.push(failure(`The answer could not be judged by ${by}: ${(error as Error).message}.`));
      }
    }
  };
  if (!isCostly(asked)) work();
  if (!isCostly(asked) || withinTime(maxMs, work)) return found;
  const what = `The answer could not be judged by ${now} within ${maxMs / 1000} seconds`;
  const why = 'a pattern or a path is too costly for it, and what comes after was not looked at';
  return [...found, failure(`${what}: ${why}.`)];
}

/** Patterns, schemas and paths that search can take long; a time limit takes a fifth of a millisecond. */
function isCostly({ expected, schemas = [] }: Asked): boolean {
  const { fields, snapshot_ignore: ignored, text_pattern: text, error_message_pattern: message } = expected;
  const paths = [...fields.map(({ path }) => path), ...ignored];
  return (
    schemas.length > 0 ||
    (text ?? message) !== undefined ||
    fields.some(({ pattern }) => pattern !== undefined) ||
    paths.some((path) => path.includes('?') || path.includes('..'))
  );
}

interface Check {
  /** Names it in a sentence: "judged by …". */
  by: string;
  look: () => { failures: Failure[]; isLast?: boolean };
}

function* checksOf({ expected, schemas = [] }: Asked, answer: Answer, { snapshot }: Facts): Generator<Check> {
  yield { by: 'how the call ended', look: () => judgeEnding(expected, answer) };
  const views = viewsOf(answer);
  const documents = documentsOf(answer);
  const check = (by: string, judgement: () => Failure[]): Check => ({
    by,
    look: () => ({ failures: judgement() }),
  });
  for (const schema of schemas) yield check(schema.from, () => judgeSchema(schema, documents));
  if (expected.equals !== undefined) yield check('equals', () => judgeEquals(expected.equals, documents));
  for (const field of expected.fields) yield check(`the field ${field.path}`, () => judgeField(field, views));
  if (!expected.allow_extra_fields)
    yield check('allow_extra_fields', () => judgeExtraFields(expected.fields, views));
  yield check('the expected text', () => judgeText(expected, textOf(answer)));
  if (snapshot === undefined) return;
  const { name, kept } = snapshot;
  yield check('the snapshot', () => judgeSnapshot(name, kept, snapshotOf(answer, expected.snapshot_ignore)));
}

/** The whole answer, in whichever of its forms is of the type that is expected. */
function judgeEquals(expected: unknown, documents: readonly unknown[]): Failure[] {
  if (documents.some((document) => jsonEqual(expected, document))) return [];
  const actual = documents.find((document) => typeOf(document) === typeOf(expected)) ?? documents[0];
  return [mismatch(`The answer should be ${shown(expected)}, and is ${shown(actual)}.`, expected, actual)];
}

/** Whoever says which error it is expects one, unless any answer will do. */
const expectsError = (expected: Expected): boolean =>
  expected.error === true ||
  expected.error_code !== undefined ||
  expected.error_message_contains !== undefined ||
  expected.error_message_pattern !== undefined;

interface Ending {
  failures: Failure[];
  /** An answer of another kind would fail everything else as well, and say nothing new. */
  isLast: boolean;
}

/** Whether the call failed, succeeded or was cancelled as expected. */
function judgeEnding(expected: Expected, answer: Answer): Ending {
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
