import { describe, expect, test } from 'vitest';
import type { Answer } from '../../src/judge/answer.js';
import { errorResult, judged, messages, prompt, resource, structured, text } from './answers.js';

const PERSON = structured({
  user: { name: 'Ada', age: 36, tags: ['x', 'y'], 'odd key': null },
  total: 4.5,
  list: [{ id: 1 }, { id: 2 }],
});

/** The field, and what is said of it; nothing where it is as expected. */
const FIELDS: [field: Record<string, unknown>, message?: string][] = [
  [{ path: '$.user.name' }],
  [{ path: '$.user.name', value: 'Ada' }],
  [{ path: '$.user.name', value: 'Bob' }, '$.user.name should be "Bob" but is "Ada".'],
  [{ path: '$.list[*].id', min: 1, max: 2 }],
  [{ path: '$.list[*].id', min: 2 }, '$.list[0].id should be at least 2 but is 1.'],
  [{ path: '$.total', max: 4 }, '$.total should be at most 4 but is 4.5.'],
  [{ path: '$.total', field_type: 'number' }],
  [{ path: '$.total', type: 'integer' }, '$.total should be an integer but is a number: 4.5.'],
  [{ path: '$.user.age', type: 'integer' }],
  [{ path: '$.user', type: 'object' }],
  [{ path: "$.user['odd key']", type: 'null', value: null }],
  [{ path: "$.user['odd key']", type: 'string' }, "$.user['odd key'] should be a string but is null: null."],
  [{ path: '$.user.name', pattern: '^A' }],
  [{ path: '$.user.name', pattern: '(?i)^a' }],
  [{ path: '$.user.name', pattern: '^(?P<first>A)da$' }],
  [{ path: '$.user.name', pattern: '^B' }, '$.user.name should match /^B/ but is "Ada".'],
  [
    { path: '$.user.age', pattern: '3' },
    '$.user.age should be a string, because of a pattern but is a number: 36.',
  ],
  [{ path: '$.user.name', min: 1 }, '$.user.name should be a number, because of min but is a string: "Ada".'],
  [{ path: '$.user.name', contains: 'da' }],
  [{ path: '$.user.name', contains: 'ad' }, '$.user.name should contain "ad" but is "Ada".'],
  [{ path: '$.user.tags', contains: 'y' }],
  [{ path: '$.list', contains: { id: 2 } }],
  [{ path: '$.user.tags', contains: 'z' }, '$.user.tags should have the item "z" but is ["x","y"].'],
  [
    { path: '$.user.age', contains: 3 },
    '$.user.age should be a string or an array, because of contains but is a number: 36.',
  ],
  [{ path: '$.user.name', min_length: 3, max_length: 3 }],
  [{ path: '$.user.tags', min_length: 3 }, '$.user.tags should have at least 3 items but has 2.'],
  [{ path: '$.user', max_length: 3 }, '$.user should have at most 3 keys but has 4.'],
  [
    { path: '$.user.age', max_length: 3 },
    '$.user.age should be a string, an array or an object, because of a length but is a number: 36.',
  ],
  [{ path: '$.list', array_length: 2 }],
  [{ path: '$.list', array_length: 3 }, '$.list should have 3 items but has 2.'],
  [{ path: '$.user', array_length: 3 }, /^\$\.user should be an array, because of array_length/.source],
  [{ path: '$.user.name', one_of: ['Ada', 'Bob'] }],
  [{ path: '$.user.name', one_of: ['Bob'] }, '$.user.name should be one of ["Bob"] but is "Ada".'],
  [{ path: '$.user.name', not: 'Bob' }],
  [{ path: '$.user.name', not: 'Ada' }, '$.user.name should be anything but "Ada".'],
  [{ path: '$.nothing', required: false, value: 1 }],
  [{ path: '$.user.nam' }, '$.user has no .nam, but "name".'],
  [{ path: '$.user.salary' }, '$.user has no .salary: its keys are "name, age, tags, odd key".'],
  [{ path: '$.list[7].id' }, '$.list has no [7]: it is an array of 2 items.'],
  [{ path: '$.usr' }, 'The answer has no $.usr, but "user".'],
  [{ path: '$.total.net' }, '$.total has no .net: it is 4.5.'],
  [{ path: '$..salary' }, 'There is no $..salary in the answer, which is'],
  [{ path: 'user' }, 'The path "user" is not a JSONPath: it must begin with $.'],
  [{ path: '$.user.name', pattern: '(' }, 'The pattern "(" is not a regular expression: unterminated group.'],
];

test.each(FIELDS)('%j', (field, message) => {
  const found = messages({ fields: [field] }, PERSON);
  if (message === undefined) expect(found).toEqual([]);
  else if (message.startsWith('^')) expect(found[0]).toMatch(new RegExp(message));
  else expect(found[0]).toContain(message);
});

/** Where paths look: the structured content, the content, the whole result, JSON in the text. */
const VIEWS: [what: string, answer: Answer, path: string, value: unknown][] = [
  ['the structured content first', structured({ content: 'mine' }), '$.content', 'mine'],
  ['the content, from its first item', text('a', 'b'), '$[1].text', 'b'],
  ['the content, by its name', text('a'), '$.content[0].text', 'a'],
  ['the content, beside structured content', structured({ a: 1 }), '$.content[0].type', 'text'],
  ['the result', errorResult('no'), '$.isError', true],
  ['JSON that is the only text', text('{"a": {"b": [1]}}'), '$.a.b[0]', 1],
  ['the text of a resource', resource({ uri: 'a:b', text: 'hello' }), '$.content', 'hello'],
  ['the bytes of a resource', resource({ uri: 'a:b', blob: 'aGk=' }), '$.content', 'aGk='],
  ['the contents of a resource', resource({ uri: 'a:b', text: 'hello' }), '$.contents[0].uri', 'a:b'],
  ['JSON in a resource', resource({ uri: 'a:b', text: '[1, 2]' }), '$[1]', 2],
  ['the messages of a prompt', prompt('say'), '$.messages[0].content.text', 'say'],
  [
    'a JSON-RPC error',
    { kind: 'error', code: -32602, message: 'no', data: { uri: 'x' } },
    '$.error.data.uri',
    'x',
  ],
];

test.each(VIEWS)('a path finds %s', (_, answer, path, value) => {
  const isError = answer.kind === 'error' || path === '$.isError';
  expect(messages({ error: isError, fields: [{ path, value }] }, answer)).toEqual([]);
  expect(messages({ error: isError, fields: [{ path, value: 'else' }] }, answer)).toHaveLength(1);
});

describe('allow_extra_fields: false', () => {
  const strict = (...paths: string[]) => ({
    allow_extra_fields: false,
    fields: paths.map((path) => ({ path })),
  });

  test('allows what fields name, with all that is in it', () => {
    expect(messages(strict('$.user', '$.total', '$.list[*].id'), PERSON)).toEqual([]);
    expect(messages(strict('$'), PERSON)).toEqual([]);
  });

  test('names the topmost of what is too much', () => {
    const found = judged(strict('$.user.name', '$.list[0]'), PERSON);
    expect(found.map(({ path }) => path)).toEqual([
      '$.user.age',
      '$.user.tags',
      "$.user['odd key']",
      '$.total',
      '$.list[1]',
    ]);
    expect(found[3]?.message).toBe('$.total is unexpected: no field names it. It is 4.5.');
  });

  test('knows that the content of a resource is made of its contents', () => {
    expect(messages(strict('$.content'), resource({ uri: 'a:b', text: 'x' }))).toEqual([]);
  });
});

test('a path that selects many says no more than a person reads', () => {
  const many = structured(Array.from({ length: 50 }, (_, index) => index));
  const found = messages({ fields: [{ path: '$[*]', min: 100 }] }, many);
  expect(found).toHaveLength(11);
  expect(found.at(-1)).toBe('$[*] selects more values that do not match.');
  const million = structured(Array.from({ length: 200_000 }, () => 1));
  expect(messages({ fields: [{ path: '$[*]' }] }, million)).toEqual([
    'The answer could not be judged by the field $[*]: it selects more than 100000 values.',
  ]);
});

test('keys of any kind are found and named', () => {
  const key = `it's "a\\b"\n\u0001é`;
  const [found] = judged({ fields: [{ path: '$.*', value: 1 }] }, structured({ [key]: 2 }));
  expect(found?.path).toBe(`$['it\\'s "a\\\\b"\n\u0001é']`);
  expect(
    messages({ allow_extra_fields: false, fields: [{ path: '$.*' }] }, structured({ [key]: 2 })),
  ).toEqual([]);
});

test('needless backslashes in a pattern are forgiven', () => {
  expect(messages({ fields: [{ path: '$.a', pattern: '^a\\-\\_b$' }] }, structured({ a: 'a-_b' }))).toEqual(
    [],
  );
});
