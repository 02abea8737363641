import { isMap, type JsonMap } from '../judge/answer.js';
import { cut, shown } from '../judge/shown.js';
import type { PrintedVerdict } from './printed-verdicts.js';
import type { ScriptFailure } from './script-result.js';

const WORDS = ['error', 'message', 'reason'];
const MAX_MESSAGE = 4000;
const MAX_FAILURES = 100;

/**
 * What a script returned, as its judgement: False, or a map whose `valid` is False. Where failures were noted already,
 * as by `return expect(…)`, only what says more is added.
 */
export function judgeResult(result: unknown, hasNoted: boolean): ScriptFailure[] {
  if (result === false) return hasNoted ? [] : [{ message: 'The script returned False.' }];
  if (!isMap(result) || result['valid'] !== false) return [];
  const said = failuresIn(result);
  return said.length > 0 || hasNoted ? said : [{ message: 'The script returned {"valid": false}.' }];
}

/** Objects that a script printed, each of which says that the answer is not valid. */
export const judgePrinted = (verdicts: readonly PrintedVerdict[]): ScriptFailure[] =>
  verdicts
    .flatMap(({ line, value }) => {
      const said = isMap(value) ? failuresIn(value) : [];
      return said.length > 0
        ? said
        : [{ message: `The script printed {"valid": false} in line ${line} of its output.` }];
    })
    .slice(0, MAX_FAILURES);

/** What a judgement says about itself: its errors, or a sentence. */
function failuresIn(judgement: JsonMap): ScriptFailure[] {
  const errors = [judgement['errors'], judgement['failures']].flat().filter(Boolean);
  if (errors.length > 0) return errors.slice(0, MAX_FAILURES).map(failureOf);
  const said = WORDS.map((name) => judgement[name]).find(
    (word) => isMap(word) || (word && typeof word === 'string'),
  );
  return said === undefined ? [] : [failureOf(said)];
}

function failureOf(error: unknown): ScriptFailure {
  if (!isMap(error)) return { message: cut(typeof error === 'string' ? error : shown(error), MAX_MESSAGE) };
  const { message, field, path = field } = error as JsonMap;
  return {
    message: typeof message === 'string' ? cut(message, MAX_MESSAGE) : shown(error),
    ...(typeof path === 'string' ? { path } : {}),
    ...('expected' in error ? { expected: error['expected'] as ScriptFailure['expected'] } : {}),
    ...('actual' in error ? { actual: error['actual'] as ScriptFailure['actual'] } : {}),
  };
}
