import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import type { Outcome, RunRequest } from '../../../pungi/src/index.js';
import type { FunctionCall } from '../../src/contract/run.js';
import { expectOk, SANDBOXES, sharedPungis, verdictOf } from './pungi.js';

const pungis = sharedPungis();

const integers = (...names: string[]): FunctionCall['inputSchema'] => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'integer' }])),
  required: names,
});

describe.each(SANDBOXES)('a call in the %s tier', (tier) => {
  const pungi = pungis[tier];
  const call = (
    code: string,
    name: string,
    args: Record<string, unknown> = {},
    more: Partial<RunRequest> & { inputSchema?: FunctionCall['inputSchema'] } = {},
  ): Promise<Outcome> => {
    const { inputSchema, ...request } = more;
    const asked = { function: name, arguments: args, ...(inputSchema && { inputSchema }) };
    return pungi.run({ code, filename: 'report.py', call: asked, ...request });
  };
  const given = async (...asked: Parameters<typeof call>) => {
    const outcome = await call(...asked);
    expectOk(outcome);
    return outcome.value;
  };

  test('gives the value of the function, apart from what is printed', async () => {
    const code = py`
      print("top", __name__)
      def total(prices: list[float], tax: float = 0.5) -> dict:
          print("in total")
          return {"total": sum(prices) * (1 + tax)}
      if __name__ == "__main__":
          print("never")
      "a last expression"
    `;
    const outcome = await call(code, 'total', { prices: '["1", 3]' });
    expectOk(outcome);
    expect(outcome.isolation.tier).toBe(tier);
    expect(outcome.stdout.text).toBe('top report\nin total\n');
    expect(outcome.value).toEqual({ type: 'dict', repr: "{'total': 6.0}", json: { total: 6 } });
  });

  test('finds wrong arguments by the schema before anything of the script is run', async () => {
    const code = 'print("ran")\ndef f(a): return a';
    const wrong = { a: 'one', b: 2 };
    const outcome = await call(code, 'f', wrong, { inputSchema: integers('a') });
    const issues = ['a: expected a whole number, got the text "one"', 'b: is not known; there is a'];
    expect(outcome.verdict).toEqual({
      kind: 'invalid',
      code: 'INVALID_INPUT',
      message: `The function "f" was called with invalid arguments: ${issues.join('; ')}.`,
      issues,
    });
    expect(outcome).toMatchObject({ value: null, stdout: { text: '' }, isolation: { tier } });
    expect(await given(code, 'f', { a: '1' }, { inputSchema: integers('a') })).toMatchObject({ json: 1 });
  });

  test('finds what only the type hints know after it, and names the place', async () => {
    const code = py`
      import dataclasses, datetime
      print("ran")
      @dataclasses.dataclass
      class Row:
          day: datetime.date
      def f(rows: list[Row]): return len(rows)
    `;
    const outcome = await call(code, 'f', { rows: [{ day: '2024-01-02' }, { day: 'soon' }] });
    expect(verdictOf(outcome, 'invalid').issues).toEqual([
      'rows.1.day: expected a date such as 2025-01-31, got the text "soon"',
    ]);
    expect(outcome.stdout.text).toBe('ran\n');
  });

  test('of a function that is not there says which there are', async () => {
    const { issues } = verdictOf(await call('def total(): pass', 'totla'), 'invalid');
    expect(issues).toEqual(['totla: is no function of the script; do you mean "total"?']);
  });

  test.each([
    ['a function', 'def inner(n):\n    return 1 // n\ndef f():\n    return inner(0)\n'],
    ['an async function', 'def inner(n):\n    return 1 // n\nasync def f():\n    return inner(0)\n'],
    ['a generator', 'def inner(n):\n    return 1 // n\ndef f():\n    yield inner(0)\n'],
  ])('reports a failure of %s with its line, and no frames but the script’s', async (_, code) => {
    const { exception } = verdictOf(await call(code, 'f'), 'python-error');
    expect(exception).toMatchObject({ type: 'ZeroDivisionError', line: 2, text: '    return 1 // n' });
    const files = [...exception.traceback.matchAll(/File "([^"]+)", line (\d+), in (\w+)/g)];
    expect(files.map(([, ...frame]) => frame)).toEqual([
      ['report.py', '4', 'f'],
      ['report.py', '2', 'inner'],
    ]);
  });

  test('ends as the script ends: its exit, its failure to load, what is not installed', async () => {
    expect(verdictOf(await call('import sys\ndef f(): sys.exit(3)', 'f'), 'exited').status).toBe(3);
    expect(verdictOf(await call('def f(: pass', 'f'), 'python-error').exception.type).toBe('SyntaxError');
    const missing = verdictOf(await call('import nothing_like_it\ndef f(): pass', 'f'), 'python-error');
    expect(missing.exception).toMatchObject({ missingModule: 'nothing_like_it', line: 1 });
  });

  test('the script is a module that pickle, type hints, processes and threads find again', async () => {
    const code = py`
      import concurrent.futures, dataclasses, multiprocessing, pickle, sys, typing
      @dataclasses.dataclass
      class Point:
          x: "int"
      def square(point): return point.x ** 2
      def tell_square(pipe, point): pipe.send(Point(square(point)))
      def f():
          import report
          assert report is sys.modules[__name__] and report.f is f
          assert sys.modules["__main__"] is not report
          assert pickle.loads(pickle.dumps(Point(3))) == Point(3)
          assert typing.get_type_hints(Point) == {"x": int}
          found = []
          for method in ("fork", "spawn"):
              context = multiprocessing.get_context(method)
              here, there = context.Pipe()
              process = context.Process(target=tell_square, args=(there, Point(3)))
              process.start()
              found.append(here.recv())
              process.join()
          with concurrent.futures.ThreadPoolExecutor() as pool:
              found.append(list(pool.map(square, [Point(4)])))
          return found
    `;
    expect(await given(code, 'f')).toMatchObject({ json: [{ x: 9 }, { x: 9 }, [16]] });
  });

  test('has stdin, argv, files, variables and modules beside it as any run', async () => {
    const code = py`
      import sys
      import beside
      def f(): return [input(), sys.argv, open("data.txt").read(), context, beside.answer, __file__.endswith("/report.py")]
    `;
    const request = {
      stdin: 'line\n',
      argv: ['-v'],
      context: { a: 1 },
      files: [
        { path: 'data.txt', text: 'data' },
        { path: 'beside.py', text: 'answer = 42' },
      ],
    };
    const { json } = (await given(code, 'f', {}, request))!;
    expect(json).toEqual(['line', ['report.py', '-v'], 'data', { a: 1 }, 42, true]);
  });

  test('of a script that is named like a module of Python leaves that module to others', async () => {
    const code = 'def f():\n    import json, email.message\n    return [__name__, json.dumps([1])]';
    const value = await given(code, 'f', {}, { filename: 'json.py' });
    expect(value?.json).toEqual(['json_script', '[1]']);
    expect((await given('def f(): return __name__', 'f', {}, { filename: 'v1.2.py' }))?.json).toBe('v1_2');
  });

  test('gives what is no JSON as what it is', async () => {
    const code = py`
      import datetime, enum
      class Color(enum.Enum): RED = "red"
      def nothing(): pass
      def picture(): return b"\x89PNG\r\n\x1a\n"
      def several(): return {"day": datetime.date(2024, 1, 2), "color": Color.RED, "odd": float("nan")}
      def handle(): return open
      async def stream():
          yield 1
          yield 2
    `;
    expect(await given(code, 'nothing')).toEqual({ type: 'NoneType', repr: 'None', json: null });
    expect(await given(code, 'picture')).toMatchObject({
      content: [{ kind: 'image', mimeType: 'image/png', base64: 'iVBORw0KGgo=' }],
    });
    expect(await given(code, 'several')).toMatchObject({
      json: { day: '2024-01-02', color: 'red', odd: null },
      note: 'NaN and infinite numbers are given as null, since JSON has none.',
    });
    expect(await given(code, 'handle')).toMatchObject({
      repr: expect.stringContaining('built-in function'),
      note: expect.stringContaining('cannot be written as JSON'),
    });
    expect(await given(code, 'stream')).toMatchObject({ type: 'list', json: [1, 2] });
  });

  test('tells as much as there is room for', async () => {
    const code = py`
      def text(): return "ż" * 500_000
      def long(): return "x" * 2_000_000
      def bytes_(): return b"\0" * 4_500_000
      def more(): return b"\0" * 5_000_000
    `;
    expect((await given(code, 'text'))?.json).toHaveLength(500_000);
    const long = await given(code, 'long');
    expect(long).not.toHaveProperty('json');
    expect(long).toMatchObject({ note: expect.stringContaining('larger than 1048576 bytes') });
    const [content] = (await given(code, 'bytes_'))!.content!;
    expect(content).toMatchObject({ kind: 'bytes', base64: 'A'.repeat(6_000_000) });
    const more = await given(code, 'more');
    expect(more).not.toHaveProperty('content');
    expect(more).toMatchObject({ note: expect.stringContaining('was left out') });
  });

  test('is held to its limits', async () => {
    const limits = { timeoutMs: 500 };
    verdictOf(await call('def f():\n    while True: pass', 'f', {}, { limits }), 'timed-out');
    const eats = 'def f(): return len(b"x" * 10**9)';
    verdictOf(await call(eats, 'f', {}, { limits: { memoryMb: 64 } }), 'memory-exceeded');
  });

  test('of compiled code is the same', async () => {
    const script = await pungi.precompile('def f(a: int): return a + 1\n"last"', 'report.py');
    const outcome = await pungi.runCompiled(script, { call: { function: 'f', arguments: { a: '1' } } });
    expectOk(outcome);
    expect(outcome.value?.json).toBe(2);
  });
});
