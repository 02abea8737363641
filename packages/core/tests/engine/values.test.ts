import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { expectOk, sharedPungi } from './pungi.js';

const pungi = sharedPungi();

async function lastValue(code: string) {
  const outcome = await pungi.run({ code });
  expectOk(outcome);
  return outcome.value;
}

describe('the value of the last expression', () => {
  test.each<[string, string, string, unknown]>([
    ['1 + 1', 'int', '2', 2],
    ['x = 20\nx * 2.5', 'float', '50.0', 50],
    ['"text ż"', 'str', "'text ż'", 'text ż'],
    ['[1, None, {"a": True}]', 'list', "[1, None, {'a': True}]", [1, null, { a: true }]],
    ['{"a": [1.5]}', 'dict', "{'a': [1.5]}", { a: [1.5] }],
    ['True', 'bool', 'True', true],
  ])('of %j is shown and given as JSON', async (code, type, repr, json) => {
    expect(await lastValue(code)).toEqual({ type, repr, json });
  });

  test.each([
    ['(1, 2)', 'tuple', '(1, 2)'],
    ['{1}', 'set', '{1}'],
    ['b"x"', 'bytes', "b'x'"],
    ['float("nan")', 'float', 'nan'],
    ['[object]', 'list', "[<class 'object'>]"],
    ['import decimal\ndecimal.Decimal("1.10")', 'decimal.Decimal', "Decimal('1.10')"],
  ])('of %j is shown and is no JSON', async (code, type, repr) => {
    expect(await lastValue(code)).toEqual({ type, repr });
  });

  test('an integer that JSON numbers cannot hold exactly is not given as another one', async () => {
    const value = await lastValue('12345678901234567891');
    expect(value?.repr).toBe('12345678901234567891');
    expect(value?.json ?? 'left out').toBe('left out');
  });

  test.each([
    'None',
    'print("printed")',
    'x = 1',
    'for i in range(3):\n    i',
    '',
    '# nothing',
    'def f(): pass',
  ])('of %j is not shown', async (code) => {
    expect(await lastValue(code)).toBeNull();
  });

  test('of an object that is shown over several lines keeps them', async () => {
    const code = py`
      class Frame:
          def __repr__(self):
              return "   a  b\n0  1  2\n1  3  4"
      Frame()
    `;
    expect(await lastValue(code)).toEqual({ type: 'Frame', repr: '   a  b\n0  1  2\n1  3  4' });
  });

  test.each([
    ['raise ValueError("no\\nmore")', 'ValueError: no'],
    ['raise ValueError("x" * 10_000)', `ValueError: ${'x'.repeat(200)}`],
    ['raise ValueError', 'ValueError'],
    ['raise SystemExit(3)', 'SystemExit: 3'],
    ['raise KeyboardInterrupt', 'KeyboardInterrupt'],
    ['raise Odd()', 'Odd: <exception str() failed>'],
    ['return repr(self)', 'RecursionError: maximum recursion depth exceeded'],
    ['return 5', 'TypeError: __repr__ returned non-string (type int)'],
  ])('is not there, and a note says why, where its repr does: %s', async (line, raised) => {
    const code = py`
      class Odd(Exception):
          def __str__(self): raise SystemExit(4)
          def __repr__(self):
              print("asked", flush=True) if ${line.includes('self') ? 'False' : 'True'} else None
              ${line}
      import atexit
      atexit.register(print, "ended")
      Odd()
    `;
    const outcome = await pungi.run({ code });
    expectOk(outcome);
    expect(outcome.value).toBeNull();
    expect(outcome.notes).toHaveLength(1);
    expect(outcome.notes?.[0]).toContain(
      `The value of the last expression is not shown: its __repr__ raised ${raised}`,
    );
    expect(outcome.stdout.text).toMatch(/^(asked\n)?ended\n$/);
  });

  test('is not there where it is too long to be written as text', async () => {
    const outcome = await pungi.run({ code: '10 ** 100_000' });
    expectOk(outcome);
    expect(outcome.notes?.[0] ?? '').toMatch(/ValueError: Exceeds the limit|^$/);
  });

  test('is not printed', async () => {
    const { stdout, value } = await pungi.run({ code: 'print("out")\n42' });
    expect(stdout.text).toBe('out\n');
    expect(value?.json).toBe(42);
  });

  test('is not there when the code left before it', async () => {
    expect(await lastValue('import sys\nsys.exit(0)\n42')).toBeNull();
  });

  test('a long one is cut in the middle', async () => {
    const value = await lastValue('list(range(100_000))');
    expect(value?.repr.length).toBeLessThan(70_000);
    expect(value?.repr).toMatch(/^\[0, 1, 2.*characters left out.*99998, 99999\]$/s);
    expect(value).not.toHaveProperty('json');
  });

  test('one that refers to itself is shown', async () => {
    expect(await lastValue('x = []\nx.append(x)\nx')).toEqual({ type: 'list', repr: '[[...]]' });
  });

  test('a list that holds a subclass of str is given as plain JSON', async () => {
    expect((await lastValue('class S(str): pass\n[S("a")]'))?.json).toEqual(['a']);
  });
});

describe('await outside of a function', () => {
  const AWAITING = py`
    import asyncio
    async def twice(x):
        await asyncio.sleep(0)
        return 2 * x
    print(await twice(1))
    await asyncio.gather(twice(2), twice(3))
  `;

  test('works as in a notebook, with output and value', async () => {
    expect(await pungi.run({ code: AWAITING })).toMatchObject({
      verdict: { kind: 'ok' },
      stdout: { text: '2\n' },
      value: { json: [4, 6] },
    });
    const compiled = await pungi.precompile(AWAITING);
    expect((await pungi.runCompiled(compiled)).value?.json).toEqual([4, 6]);
  });

  test('fails with the lines of the script alone', async () => {
    const { verdict } = await pungi.run({ code: 'async def f():\n    1 / 0\n\nawait f()' });
    expect(verdict).toMatchObject({ kind: 'python-error', exception: { line: 2 } });
    const { traceback } = (verdict as Extract<typeof verdict, { kind: 'python-error' }>).exception;
    expect(traceback).not.toMatch(/asyncio|pungi/);
    expect(traceback.match(/File /g)).toHaveLength(2);
  });

  test('ends with the status of sys.exit, and with its tasks', async () => {
    const code =
      'import asyncio, sys\nasyncio.create_task(asyncio.sleep(60))\nawait asyncio.sleep(0)\nsys.exit(3)';
    expect((await pungi.run({ code })).verdict).toMatchObject({ kind: 'exited', status: 3 });
  });
});
