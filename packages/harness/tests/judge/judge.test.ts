import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Expected, Performance } from '../../../core/src/contract/spec.js';
import { Failure } from '../../../core/src/contract/test-report.js';
import { type Answer, capture, withinTime } from '../../src/judge/answer.js';
import { judge } from '../../src/judge/judge.js';
import { compileSchema } from '../../src/judge/schema.js';
import { MAX_MATCHED } from '../../src/judge/text.js';
import { errorResult, FACTS, judged, messages, prompt, resource, structured, text } from './answers.js';

const rpcError: Answer = { kind: 'error', code: -32602, message: 'Unknown tool: x' };
const cancelled: Answer = { kind: 'cancelled' };

/** What is expected, the answer, and what is said; nothing where it is as expected. */
const ENDINGS: [expected: object, answer: Answer, ...said: string[]][] = [
  [{}, text('fine')],
  [{}, rpcError, 'The call should have succeeded but failed with error -32602: Unknown tool: x'],
  [
    {},
    errorResult('no such file'),
    'The call should have succeeded but failed with an error result: no such file',
  ],
  [{ error: true }, rpcError],
  [{ error: true }, errorResult('no')],
  [{ error: true }, text('fine'), 'The call should have failed but it succeeded with "fine".'],
  [{ error_code: -32602 }, rpcError],
  [{ error_code: -1 }, rpcError, 'The error code should be -1 but is -32602: Unknown tool: x'],
  [
    { error_code: -1 },
    errorResult('no'),
    'The error code should be -1, but the error is a result with isError, which has no code.',
  ],
  [{ error_message_contains: 'tool' }, rpcError],
  [
    { error_message_contains: 'disk' },
    errorResult('no'),
    'The error message should contain "disk" but is "no".',
  ],
  [{ error_message_pattern: '^Unknown' }, rpcError],
  [
    { error_message_pattern: '^unknown' },
    rpcError,
    'The error message should match /^unknown/ but is "Unknown tool: x".',
  ],
  // Either will do; what is said of errors holds for an error, and the rest for a result.
  [{ error: 'any' }, text('fine')],
  [{ error: 'any' }, rpcError],
  [{ error: 'any' }, errorResult('no')],
  [{ error: 'any' }, cancelled, 'The call was cancelled before it was answered.'],
  [{ error: 'any', error_code: -32602, equals: 'fine' }, text('fine')],
  [{ error: 'any', error_code: -32602, equals: 'fine' }, rpcError],
  [
    { error: 'any', error_code: -1, equals: 'fine' },
    rpcError,
    'The error code should be -1 but is -32602: Unknown tool: x',
  ],
  [{ error: 'any', text_contains: 'c' }, text('a'), 'The text should contain "c" but is "a".'],
  [{ cancelled: true }, cancelled],
  [{ cancelled: true }, text('done'), 'The call should have been cancelled but was answered with "done".'],
  [{}, cancelled, 'The call was cancelled before it was answered.'],
  // Where the ending is another one, nothing else is said.
  [
    { equals: 'x', fields: [{ path: '$.a' }], text_contains: 'y' },
    rpcError,
    'The call should have succeeded but failed with error -32602: Unknown tool: x',
  ],
];

test.each(ENDINGS)('ending: %j of %j', (expected, answer, ...said) => {
  expect(messages(expected, answer)).toEqual(said);
});

const TEXTS: [expected: object, answer: Answer, ...said: string[]][] = [
  [{ text_contains: 'b' }, text('a', 'b')],
  [
    { text_contains: ['a', 'c', 'd'] },
    text('a'),
    'The text should contain "c" but is "a".',
    'The text should contain "d" but is "a".',
  ],
  [{ text_not_contains: 'secret' }, text('a')],
  [
    { text_not_contains: ['b'] },
    text(`a${'x'.repeat(50)}b`),
    `The text should not contain "b": "…${'x'.repeat(20)}b".`,
  ],
  [{ text_pattern: '^a\\nb$' }, text('a', 'b')],
  [{ text_pattern: 'c' }, text('a'), 'The text should match /c/ but is "a".'],
  [{ text_contains: 'say' }, prompt('say it')],
  [{ text_contains: 'hello' }, resource({ uri: 'a:b', text: 'hello' })],
  [{ equals: 'a' }, text('a')],
  [{ equals: 'b' }, text('a'), 'The answer should be "b" but is "a".'],
  [{ equals: { a: 1 } }, structured({ a: 1 })],
  [{ equals: { a: 1 } }, text('{"a": 1}')],
  [{ equals: [{ type: 'text', text: 'a' }] }, text('a')],
  [{ equals: { contents: [{ uri: 'a:b', text: 'x' }] } }, resource({ uri: 'a:b', text: 'x' })],
  [{ equals: { a: 2 } }, structured({ a: 1 }), 'The answer should be {"a":2} but is {"a":1}.'],
  [{ schema: { type: 'object', required: ['a'] } }, structured({ a: 1 })],
  [{ schema: { type: 'object', required: ['a'] } }, text('{"a": 1}')],
  [{ schema: { type: 'array', items: { required: ['type'] } } }, text('a')],
  [
    { schema: { properties: { a: { type: 'string' } } } },
    structured({ a: 1 }),
    '$.a violates the schema: it must be string: 1.',
  ],
  [
    { schema: { required: ['b', 'c'] } },
    structured({ a: 1 }),
    "$ violates the schema: it must have required property 'b'.",
    "$ violates the schema: it must have required property 'c'.",
  ],
  [
    { schema: { additionalProperties: false } },
    structured({ a: 1 }),
    '$ violates the schema: it must not have the property "a": {"a":1}.',
  ],
  [
    { schema: { properties: { a: { enum: [2, 3] } } } },
    structured({ a: 1 }),
    '$.a violates the schema: it must be one of [2,3]: 1.',
  ],
  [
    {
      schema: {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: 'same',
        definitions: { n: { type: 'number' } },
        properties: { a: { $ref: '#/definitions/n' } },
      },
    },
    structured({ a: 1 }),
  ],
  [{ schema: { $id: 'same', type: 'object' } }, structured({ a: 1 })],
  [{ schema: { type: 'nothing' } }, structured(1), 'The schema is not a JSON Schema:'],
  [{ schema: false }, structured(1), '$ violates the schema: it is not allowed: 1.'],
];

test.each(TEXTS)('content: %j of %j', (expected, answer, ...said) => {
  const found = messages(expected, answer);
  expect(found).toHaveLength(said.length);
  for (const [index, one] of said.entries()) expect(found[index]).toContain(one);
});

const counted = (range: unknown, count: number) =>
  messages({ progress: range }, text('a'), { progress: count });

test('counts are exact or within bounds', () => {
  expect(
    [counted(2, 2), counted({ min: 1 }, 5), counted({ max: 3 }, 3), counted({ min: 1, max: 3 }, 2)].flat(),
  ).toEqual([]);
  expect(counted(2, 3)).toEqual(['There should have been 2 progress notifications but there were 3.']);
  expect(counted({ min: 4 }, 3)).toEqual([
    'There should have been at least 4 progress notifications but there were 3.',
  ]);
  expect(counted({ max: 2 }, 3)).toEqual([
    'There should have been at most 2 progress notifications but there were 3.',
  ]);
  expect(messages({ logs: 1 }, text('a'))).toEqual([
    'There should have been 1 log messages but there were 0.',
  ]);
});

describe('performance', () => {
  const measured = (performance: object, facts: object, expected: object = {}) =>
    judge({ expected: Expected.parse(expected), performance: Performance.parse(performance) }, text('a'), {
      ...FACTS,
      ...facts,
    });

  test('is judged by the lower of two limits', () => {
    const found = measured({ max_duration_ms: 100 }, { durationMs: 60.4321 }, { max_execution_time_ms: 50 });
    expect(found).toEqual([
      {
        kind: 'performance',
        message: 'The call should take at most 50 ms but took 60.4 ms.',
        expected: 50,
        actual: 60.4321,
      },
    ]);
  });

  test('fails where a limit is given and nothing could be measured', () => {
    const limits = { max_memory_mb: 10, min_ops_per_sec: 100 };
    expect(measured(limits, {}).map(({ message }) => message)).toEqual([
      'The server may use at most 10 MB of memory, but its memory could not be measured.',
      'There should be at least 100 calls a second, but their rate could not be measured.',
    ]);
    expect(measured(limits, { memoryMb: 11, opsPerSecond: 99 })).toHaveLength(2);
    expect(measured(limits, { memoryMb: 10, opsPerSecond: 100 })).toEqual([]);
  });
});

describe('answers that nobody foresaw', () => {
  const deep = (levels: number) => {
    let value: unknown = 1;
    for (let level = 0; level < levels; level += 1) value = [value];
    return value;
  };

  test('depth without end is one failure', () => {
    const found = messages({ fields: [{ path: '$..x' }], snapshot: true }, structured(1));
    expect(found).toHaveLength(1);
    const answer: Answer = { kind: 'result', of: 'tool', result: { structuredContent: deep(100_000) } };
    expect(messages({ fields: [{ path: '$..x' }] }, answer)).toEqual([
      'The answer is nested more than 256 levels deep, so it was not checked.',
    ]);
    expect(capture({ a: '$' }, answer).problems).toEqual(['The answer is nested more than 256 levels deep.']);
  });

  test('a pattern that would take hours ends with a sentence that names it, and keeps what was found before', () => {
    const expected = Expected.parse({
      fields: [{ path: '$.a', value: 1 }, { path: '$.b', pattern: '^(a+)+$' }, { path: '$.c' }],
    });
    const answer = structured({ a: 2, b: `${'a'.repeat(60)}!` });
    const found = judge({ expected }, answer, FACTS, 200).map(({ message }) => message);
    expect(found).toHaveLength(2);
    expect(found[0]).toContain('$.a should be 1');
    expect(found[1]).toContain('could not be judged by the field $.b within 0.2 seconds');
  });

  test('what runs out of time can run again', () => {
    expect(
      withinTime(50, () => {
        for (;;);
      }),
    ).toBe(false);
    let ran = false;
    expect(
      withinTime(1000, () => {
        ran = true;
      }),
    ).toBe(true);
    expect(ran).toBe(true);
    expect(() =>
      withinTime(1000, () => {
        throw new TypeError('mine');
      }),
    ).toThrow(TypeError);
  });

  test('of a long text, the documented part is matched, and the failure says so', () => {
    const long = text(`${'x'.repeat(MAX_MATCHED)}end`);
    expect(messages({ text_pattern: 'end' }, long)[0]).toContain(`only the first ${MAX_MATCHED} of`);
    expect(messages({ text_contains: 'end' }, long)).toEqual([]);
  });

  test('values in failures are cut', () => {
    const [found] = judged({ equals: 'b' }, text('x'.repeat(1_000_000)));
    expect(JSON.stringify(found).length).toBeLessThan(6000);
    const [many] = judged(
      { equals: [] },
      structured(Array.from({ length: 100_000 }, (_, index) => ({ index }))),
    );
    expect(JSON.stringify(many).length).toBeLessThan(20_000);
  });

  const anyAnswer = fc.oneof(
    fc.record({
      kind: fc.constant('result'),
      of: fc.constantFrom('tool', 'resource', 'prompt'),
      result: fc.anything(),
    }),
    fc.record({
      kind: fc.constant('result'),
      of: fc.constantFrom('tool', 'resource', 'prompt'),
      result: fc.record(
        {
          content: fc.anything(),
          contents: fc.anything(),
          messages: fc.anything(),
          structuredContent: fc.jsonValue(),
          isError: fc.anything(),
        },
        { requiredKeys: [] },
      ),
    }),
    fc.record({ kind: fc.constant('error'), code: fc.integer(), message: fc.string(), data: fc.anything() }),
  ) as fc.Arbitrary<Answer>;

  test('nothing that is answered makes the judge throw, and every failure can be reported', () => {
    const expected = Expected.parse({
      schema: { type: 'object', required: ['a'] },
      fields: [
        { path: '$..a', type: 'string', pattern: 'x', min_length: 2 },
        { path: '$[0]', contains: 1 },
      ],
      allow_extra_fields: false,
      equals: { a: 1 },
      text_contains: 'x',
      snapshot_ignore: ['$..b'],
    });
    fc.assert(
      fc.property(anyAnswer, fc.boolean(), (answer, error) => {
        const schemas = [{ from: 'schema', schema: expected.schema! }];
        const facts = { ...FACTS, snapshot: { name: 's', kept: { a: 1 } } };
        for (const found of judge({ expected: { ...expected, error }, schemas }, answer, facts))
          Failure.parse(found);
        capture({ a: '$..a' }, answer);
      }),
      { numRuns: 300 },
    );
  });
});

test('captures take one value, or a list of several, and say what is not there', () => {
  const answer = structured({ id: 7, items: [{ n: 1 }, { n: 2 }] });
  const { values, problems } = capture(
    { id: '$.id', all: '$.items[*].n', bad: '$[', none: '$.none' },
    answer,
  );
  expect(values).toEqual({ id: 7, all: [1, 2] });
  expect(problems[0]).toContain('Nothing was captured for "bad": $[ cannot be used');
  expect(problems.slice(1)).toEqual(['Nothing was captured for "none": there is no $.none in the answer.']);
});

test('schemas of one $id do not get into each other', () => {
  const schema = (type: string) => ({ $id: 'http://example.com/same', type });
  expect(messages({ schema: schema('object') }, structured({}))).toEqual([]);
  expect(messages({ schema: schema('array') }, structured([]))).toEqual([]);
  expect(messages({ schema: schema('array') }, structured({}))).toHaveLength(1);
});

test('a schema is held against the form of the answer that it is about', () => {
  const [found] = messages(
    { schema: { type: 'object', properties: { a: { type: 'string' } } } },
    text('{"a": 1}'),
  );
  expect(found).toBe('$.a violates the schema: it must be string: 1.');
});

test('a schema is compiled once', () => {
  const schema = { type: 'object' };
  expect(compileSchema(schema)).toBe(compileSchema(schema));
});
