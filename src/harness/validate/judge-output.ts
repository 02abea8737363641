import { isMap, type JsonMap } from '../judge/answer.js';
import { cut, shown } from '../judge/shown.js';
import type { ScriptFailure } from './script-result.js';

const VERDICTS = ['valid', 'success', 'passed'];
const WORDS = ['error', 'message', 'reason'];
const MAX_MESSAGE = 4000;
const MAX_FAILURES = 100;

/** What a script gave back or printed, as its judgement: false, {valid: false} and {errors: […]} are failures. */
export function judgeOutput(output: unknown): ScriptFailure[] {
  if (output === false) return [{ message: 'The script gave back False.' }];
  if (!isMap(output)) return [];
  const errors = [output['errors'], output['failures']].flat().filter(Boolean);
  if (errors.length > 0) return errors.slice(0, MAX_FAILURES).map(failureOf);
  if (!VERDICTS.some((name) => output[name] === false)) return [];
  const said = WORDS.map((name) => output[name]).find(
    (word) => isMap(word) || (word && typeof word === 'string'),
  );
  return [failureOf(said ?? 'The script gave back that it did not pass.')];
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
