import type { Expected, TestCase } from '../../contract/spec.js';
import type { Failure } from '../../contract/test-report.js';
import { type Answer, documentsOf, textOf, viewsOf } from './answer.js';
import { judgeEnding } from './ending.js';
import { judgeEquals } from './equals.js';
import { judgeExtraFields } from './extra-fields.js';
import { failure } from './failure.js';
import { judgeField } from './fields.js';
import { MAX_DEPTH, measure } from './measure.js';
import { type Figures, judgePerformance } from './performance.js';
import { judgeRange } from './range.js';
import { judgeSchema, type NamedSchema } from './schema.js';
import { judgeSnapshot, snapshotOf } from './snapshot.js';
import { judgeText } from './text.js';
import { withinTime } from './within-time.js';

/** What a test asks for. The schemas are those of its `schema` and `schema_file`, read. */
export interface Asked {
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
  if (measure(body).depth > MAX_DEPTH)
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
