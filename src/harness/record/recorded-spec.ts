import { shapeOf } from '../init/expected-from.js';
import { verbatim } from '../init/spec-text.js';
import { documentsOf, isErrorResult, type JsonMap, textOf } from '../judge/answer.js';
import type { Recorded } from './recorder.js';

const MOST_WORDS = 200;

export interface RecordedOptions {
  name: string;
  server: JsonMap;
  /** The very answers, rather than answers of the same kind. */
  isExact: boolean;
}

/** What was recorded, as tests in the order of the calls. What was done twice is tested once. */
export function recordedSpec(calls: readonly Recorded[], options: RecordedOptions): JsonMap {
  const tests = calls.map((call) => ({ call, written: testOf(call, options.isExact) }));
  const once = new Map(
    tests.toReversed().map((one) => [JSON.stringify([one.call.kind, one.call.target, one.written]), one]),
  );
  const first = new Set(once.values());
  const kept = tests.filter((one) => first.has(one));
  const group = (kind: Recorded['kind'], key: string, name: string): JsonMap => {
    const groups: { target: string; tests: JsonMap[] }[] = [];
    for (const [index, { call, written }] of kept.entries()) {
      if (call.kind !== kind) continue;
      // The same tool may come again further below: calls after another may need what was done between them.
      if (groups.at(-1)?.target !== call.target) groups.push({ target: call.target, tests: [] });
      groups.at(-1)!.tests.push({ name: `call ${index + 1}`, ...written });
    }
    if (groups.length === 0) return {};
    return { [key]: groups.map(({ target, tests: own }) => ({ [name]: verbatim(target), tests: own })) };
  };
  return {
    name: verbatim(options.name),
    server: options.server,
    // One after the other, as the client made them.
    test_config: { max_concurrency: 1 },
    ...group('tool', 'tools', 'name'),
    ...group('resource', 'resources', 'uri_template'),
    ...group('prompt', 'prompts', 'name'),
  };
}

function testOf({ input, answer, elicitation, sampling }: Recorded, isExact: boolean): JsonMap {
  const expected = isExact ? exactly(answer) : shapeOf(answer);
  return {
    ...(Object.keys(input).length === 0 ? {} : { input: verbatim(input) }),
    ...(elicitation.length === 0 ? {} : { elicitation: verbatim(elicitation) }),
    ...(sampling.length === 0 ? {} : { sampling: verbatim(sampling) }),
    ...(Object.keys(expected).length === 0 ? {} : { expected }),
  };
}

function exactly(answer: Recorded['answer']): JsonMap {
  const isError = answer.kind === 'error' || isErrorResult(answer);
  if (!isError) return { equals: verbatim(documentsOf(answer)[0]) };
  const words = textOf(answer).slice(0, MOST_WORDS);
  return { ...shapeOf(answer), ...(words === '' ? {} : { error_message_contains: verbatim(words) }) };
}
