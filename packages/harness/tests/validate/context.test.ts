import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { sharedPungi } from '../../../core/tests/engine/pungi.js';
import { ScriptEngine } from '../../src/validate/script-engine.js';

const engine = new ScriptEngine({}, sharedPungi());

const CONTEXT = {
  request: { method: 'tools/call', params: { name: 'add', arguments: { a: 1 } } },
  response: {
    content: [{ type: 'text', text: 'null' }, { 'odd.name': { items: [1, 2, 3] } }],
    isError: false,
  },
  metadata: {
    test_name: 'adds',
    tool_name: 'add',
    server_info: { name: 's' },
    phase: 'after' as const,
    index: 2,
  },
};

test('the context is made of real Python values', async () => {
  const script = py`
    kinds = [None, True, 1, 1.5, "null", "true", "1", [], {}, "ü\u2028\U0001F40D", "__proto__"]
    [(type(v).__name__, v == w) for v, w in zip(context["response"], kinds)]
  `;
  const response = [null, true, 1, 1.5, 'null', 'true', '1', [], {}, 'ü\u2028🐍', '__proto__'];
  const { output } = await engine.executeScript(script, { response });
  const types = ['NoneType', 'bool', 'int', 'float', 'str', 'str', 'str', 'list', 'dict', 'str', 'str'];
  expect(output).toEqual(types.map((type) => [type, true]));
});

test('a context that says nothing has its parts all the same', async () => {
  const { output } = await engine.executeScript('context');
  expect(output).toEqual({ request: null, response: null, metadata: {}, session: {} });
});

test('metadata, variables, earlier results and other data are there', async () => {
  const more = { variables: { user: 'ann' }, results: { 'tool/a/b': { status: 'passed' } }, custom: [1] };
  const { output } = await engine.executeScript('context', { ...CONTEXT, ...more });
  expect(output).toEqual({ ...CONTEXT, ...more, session: {} });
});

describe('get', () => {
  test.each([
    ['get("response.content[0].text")', 'null'],
    ['get("$.response.content[0].text")', 'null'],
    ["get(\"$['response']['content'][1]['odd.name'].items[-1]\")", 3],
    ['get("response.content.0.type")', 'text'],
    ['get("response.absent.deeper", "instead")', 'instead'],
    ['get("response.content[9]", None)', null],
    ['get("[1]", within=[4, 5])', 5],
  ])('%s', async (script, output) => {
    expect(await engine.executeScript(script, CONTEXT)).toMatchObject({ output, error: null });
  });

  test.each([
    [
      'get("response.contents")',
      "there is nothing at 'response.contents': there is no 'contents', only content, isError",
    ],
    ['get("response.content[2]")', 'the list has 2 items, and no 2'],
    ['get("response.isError.x")', "False has no 'x'"],
    ['get("response..x")', 'is no path'],
  ])('%s says what is wrong', async (script, sentence) => {
    const { error } = await engine.executeScript(script, CONTEXT);
    expect(error?.message).toContain(sentence);
  });
});

describe('fail and expect', () => {
  test('tell several failures at once, with field, expected, actual and line', async () => {
    const script = py`
      fail("first", field="$.a", expected=1, actual={"b": [2]})
      def helper():
          expect(False, "second", expected=None)
      helper()
      assert expect(1 + 1 == 2, "never")
      expect(1 == 2)
    `;
    const { success, failures, error } = await engine.executeScript(script);
    expect([success, error]).toEqual([false, null]);
    expect(failures).toEqual([
      { message: 'first', path: '$.a', expected: 1, actual: { b: [2] }, line: 1 },
      { message: 'second', expected: null, line: 3 },
      { message: 'This does not hold: expect(1 == 2)', line: 6 },
    ]);
  });

  test('keep what was found before an exception', async () => {
    const { failures, error } = await engine.executeScript('fail("before")\n[][0]');
    expect(failures).toEqual([{ message: 'before', line: 1 }]);
    expect(error).toMatchObject({ kind: 'RuntimeError', details: { exception: 'IndexError' } });
  });

  test('show values that are no JSON, and the beginning of large ones', async () => {
    const script = py`
      fail("a", expected=float("nan"), actual=object)
      fail("b", expected="x" * 100_000, actual={1: {2}})
      for n in range(1000): fail("c")
    `;
    const { failures } = await engine.executeScript(script);
    expect(failures[0]).toMatchObject({ expected: 'nan', actual: "<class 'object'>" });
    expect(JSON.stringify(failures[1]).length).toBeLessThan(1000);
    expect(failures).toHaveLength(101);
    expect(failures.at(-1)?.message).toBe('902 more failures are left out.');
  });
});

describe('the session', () => {
  test('tells what is new, what has changed inside, and what is gone', async () => {
    const script =
      'session["new"] = 1\nsession["list"].append(2)\ndel session["old"]\ncontext["session"] is session';
    const { output, session } = await engine.executeScript(script, {
      session: { list: [1], old: 1, same: {} },
    });
    expect(output).toBe(true);
    expect(session).toEqual({ set: { new: 1, list: [1, 2] }, removed: ['old'] });
  });

  test.each([
    ['float("nan")', 'JSON has no nan'],
    ['2**60', 'not exact'],
    ['{1: 2}', 'keys must be texts'],
    ['[{"a": {1}}]', 'a set is no plain data'],
    ['"x" * 1_000_000', 'too large to be kept'],
  ])('refuses %s instead of changing it', async (value, why) => {
    const { failures, session } = await engine.executeScript(`session["v"] = ${value}`);
    expect(failures).toEqual([{ message: expect.stringContaining(why) }]);
    expect(session.set).toEqual({});
  });
});

test('what is no JSON in a result is told as near as JSON comes', async () => {
  const { output } = await engine.executeScript('{"n": 2**70, "nan": float("inf"), "set": {1}, 2: (3,)}');
  expect(output).toEqual({ n: '1180591620717411303424', nan: null, set: [1], 2: [3] });
});
