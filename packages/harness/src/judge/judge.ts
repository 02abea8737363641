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
import { judgeSchema, type NamedSchema } from './schema.js';
import { cut, shown, typeOf } from './shown.js';
import { judgeSnapshot, snapshotOf } from './snapshots.js';
import { judgePattern, judgeText } from './text.js';

/** The expectations of a test. The schemas are read from `schema` and `schema_file`. */
interface Asked {
  expected: Expected;
  performance?: TestCase['performance'];
  schemas?: readonly NamedSchema[];
}

/** Other facts about the call. */
export interface Facts extends Figures {
  progress: number;
  logs: number;
  /** The stored snapshot; undefined if there is none yet. */
  snapshot?: { name: string; kept: unknown } | undefined;
}

const MAX_MS = 3000;

/** Returns everything that violates the expectations. Pure, bounded in time, and it never throws. */
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
    return [failure(`The answer is nested more than ${MAX_DEPTH} levels deep, so it was not checked.`)];
  const found: Failure[] = [];
  let now = '';
  const work = () => {
    for (const { by, run } of checksOf(asked, answer, facts)) {
      now = by;
      try {
        const { failures, isLast = false } = run();
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
  const why = 'a pattern or a path is too expensive, and the remaining checks were skipped';
  return [...found, failure(`${what}: ${why}.`)];
}

/** Patterns, schemas and searching paths can take long; a time limit costs a fifth of a millisecond. */
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
  /** A label for messages: "judged by …". */
  by: string;
  run: () => { failures: Failure[]; isLast?: boolean };
}

function* checksOf({ expected, schemas = [] }: Asked, answer: Answer, { snapshot }: Facts): Generator<Check> {
  yield { by: 'how the call ended', run: () => judgeEnding(expected, answer) };
  const views = viewsOf(answer);
  const documents = documentsOf(answer);
  const check = (by: string, judgement: () => Failure[]): Check => ({
    by,
    run: () => ({ failures: judgement() }),
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

/** Compares the whole answer, in the form whose type matches. */
function judgeEquals(expected: unknown, documents: readonly unknown[]): Failure[] {
  if (documents.some((document) => jsonEqual(expected, document))) return [];
  const actual = documents.find((document) => typeOf(document) === typeOf(expected)) ?? documents[0];
  return [mismatch(`The answer should be ${shown(expected)} but is ${shown(actual)}.`, expected, actual)];
}

/** Expecting a specific error implies an error, unless any answer is accepted. */
const expectsError = (expected: Expected): boolean =>
  expected.error === true ||
  expected.error_code !== undefined ||
  expected.error_message_contains !== undefined ||
  expected.error_message_pattern !== undefined;

interface Ending {
  failures: Failure[];
  /** True if the kind of answer is wrong: all other checks would fail for the same reason. */
  isLast: boolean;
}

/** Checks that the call failed, succeeded or was cancelled as expected. */
function judgeEnding(expected: Expected, answer: Answer): Ending {
  const ended = (problem: Failure | undefined): Ending => ({
    failures: problem === undefined ? [] : [problem],
    isLast: problem !== undefined || answer.kind === 'cancelled',
  });
  if (expected.cancelled === true || answer.kind === 'cancelled')
    return ended(cancellation(expected, answer));
  const failed = answer.kind === 'error' || isErrorResult(answer);
  // Other expectations are about results: an error is checked only against expectations about errors.
  if (expected.error === 'any')
    return { failures: failed ? judgeError(expected, answer) : [], isLast: failed };
  if (failed && expectsError(expected)) return { failures: judgeError(expected, answer), isLast: false };
  if (failed) return ended(unexpected(answer));
  if (!expectsError(expected)) return ended(undefined);
  return ended(
    failure(`The call should have failed but it succeeded with ${shownAnswer(answer)}.`, {
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
  return failure(`The call should have been cancelled but was answered with ${shownAnswer(answer)}.`, {
    kind,
    actual: wholeOf(answer),
  });
}

function unexpected(answer: Answer): Failure {
  const how = answer.kind === 'error' ? `error ${answer.code}` : 'an error result';
  return failure(`The call should have succeeded but failed with ${how}: ${cut(textOf(answer), 500)}`, {
    actual: wholeOf(answer),
  });
}

const shownAnswer = (answer: Answer) => shown(textOf(answer) || wholeOf(answer));

function judgeError(expected: Expected, answer: Answer): Failure[] {
  const found: Failure[] = [];
  const { error_code: code, error_message_contains: part, error_message_pattern: pattern } = expected;
  const message = textOf(answer);
  if (code !== undefined && answer.kind !== 'error') {
    const why = 'the error is a result with isError, which has no code';
    found.push(failure(`The error code should be ${code}, but ${why}.`, { expected: code, actual: message }));
  }
  if (code !== undefined && answer.kind === 'error' && answer.code !== code) {
    const sentence = `The error code should be ${code} but is ${answer.code}: ${cut(message, 300)}`;
    found.push(failure(sentence, { expected: code, actual: answer.code }));
  }
  if (part !== undefined && !message.includes(part)) {
    const sentence = `The error message should contain ${shown(part)} but is ${shown(message)}.`;
    found.push(failure(sentence, { expected: part, actual: message }));
  }
  if (pattern !== undefined) found.push(...judgePattern('The error message', pattern, message));
  return found;
}

/** Checks a number against a range. */
export function judgeRange(what: string, expected: Expected['progress'], actual: number): Failure[] {
  if (expected === undefined) return [];
  const { min = 0, max = Number.POSITIVE_INFINITY } =
    typeof expected === 'number' ? { min: expected, max: expected } : expected;
  if (actual >= min && actual <= max) return [];
  const should = min === max ? `${min}` : actual < min ? `at least ${min}` : `at most ${max}`;
  return [
    failure(`There should have been ${should} ${what} but there were ${actual}.`, { expected, actual }),
  ];
}

/** Measurements. A missing figure could not be measured. */
interface Figures {
  durationMs: number;
  memoryMb?: number;
  opsPerSecond?: number;
}

const rounded = (value: number) => Number(value.toPrecision(3));

export function judgePerformance(
  expected: Expected,
  performance: TestCase['performance'],
  { durationMs, memoryMb, opsPerSecond }: Figures,
): Failure[] {
  const found: Failure[] = [];
  const report = (message: string, limit: number, actual?: number) =>
    found.push(
      failure(message, { kind: 'performance', expected: limit, ...(actual === undefined ? {} : { actual }) }),
    );
  const slowest = lower(performance?.max_duration_ms, expected.max_execution_time_ms);
  if (slowest !== undefined && durationMs > slowest)
    report(
      `The call should take at most ${slowest} ms but took ${rounded(durationMs)} ms.`,
      slowest,
      durationMs,
    );
  const most = lower(performance?.max_memory_mb, expected.memory_limit_mb);
  if (most !== undefined && memoryMb === undefined)
    report(`The server may use at most ${most} MB of memory, but its memory could not be measured.`, most);
  if (most !== undefined && memoryMb !== undefined && memoryMb > most)
    report(
      `The server may use at most ${most} MB of memory but used ${rounded(memoryMb)} MB.`,
      most,
      memoryMb,
    );
  const least = performance?.min_ops_per_sec;
  if (least !== undefined && opsPerSecond === undefined)
    report(`There should be at least ${least} calls a second, but their rate could not be measured.`, least);
  if (least !== undefined && opsPerSecond !== undefined && opsPerSecond < least) {
    const message = `There should be at least ${least} calls a second but there were ${rounded(opsPerSecond)}.`;
    report(message, least, opsPerSecond);
  }
  return found;
}

function lower(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
