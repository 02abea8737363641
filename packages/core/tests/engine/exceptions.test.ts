import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { expectOk, sharedPungi, verdictOf } from './pungi.js';

const pungi = sharedPungi();
const { interpreter } = await pungi.state();
const hasColumns = Number(interpreter.version.split('.')[1]) >= 11;

async function raised(code: string, more: object = {}) {
  const verdict = verdictOf(await pungi.run({ code, ...more }), 'python-error');
  expect(verdict.code).toBe('PYTHON_ERROR');
  return { ...verdict.exception, sentence: verdict.message };
}

describe('an exception', () => {
  test('is named with its message, place and source line', async () => {
    const code = py`
      def divide(a, b):
          return a / b

      divide(1, 0)
    `;
    const exception = await raised(code);
    expect(exception).toMatchObject({
      type: 'ZeroDivisionError',
      message: 'division by zero',
      line: 2,
      column: hasColumns ? 12 : null,
      text: '    return a / b',
      missingModule: null,
      hint: null,
    });
    expect(exception.sentence).toBe('ZeroDivisionError: division by zero (line 2)');
  });

  test('has a traceback with the right source lines and no frame of the sandbox', async () => {
    const code = py`
      import json

      def parse(text):
          return json.loads(text)

      parse("{")
    `;
    const { traceback } = await raised(code);
    expect(traceback).toMatch(
      /^Traceback \(most recent call last\):\n {2}File "main\.py", line 6, in <module>\n/,
    );
    expect(traceback).toContain('    parse("{")\n');
    expect(traceback).toContain('File "main.py", line 4, in parse\n    return json.loads(text)\n');
    expect(traceback).toMatch(/json\.decoder\.JSONDecodeError: .*\n$/);
    expect(traceback).not.toMatch(/worker\.py|report\.py/);
  });

  test('in a library is placed at the line of the code that called it', async () => {
    const { line, text, type } = await raised('import json\n\njson.loads("nonsense")');
    expect({ line, text, type }).toEqual({
      line: 3,
      text: 'json.loads("nonsense")',
      type: 'json.decoder.JSONDecodeError',
    });
  });

  test('in a placed module shows the lines of that module', async () => {
    const files = [{ path: 'helper.py', text: 'def fail():\n    raise KeyError("deep")  # here\n' }];
    const { traceback, line } = await raised('import helper\nhelper.fail()', { files });
    expect(traceback).toContain('raise KeyError("deep")  # here');
    expect(line).toBe(2);
  });

  test('that followed another one shows both', async () => {
    const code = py`
      try:
          {}["key"]
      except KeyError as error:
          raise ValueError("no key") from error
    `;
    const { traceback } = await raised(code);
    expect(traceback).toContain('KeyError');
    expect(traceback).toContain('direct cause of the following exception');
  });

  test('of the last expression is placed like any other', async () => {
    expect(await raised('x = 1\n\nundefined_name')).toMatchObject({
      type: 'NameError',
      line: 3,
      text: 'undefined_name',
    });
  });

  test('of a group is shown with its members', async () => {
    if (!hasColumns) return expect(interpreter.version).toMatch(/^3\.10\./);
    const { type, traceback } = await raised('raise ExceptionGroup("many", [ValueError(1), TypeError(2)])');
    expect(type).toBe('ExceptionGroup');
    expect(traceback).toContain('TypeError: 2');
  });

  test('has a column, where Python knows it, that counts characters as a syntax error does', async () => {
    const { column } = await raised('żółć = "żółć" + 1');
    expect(column).toBe(hasColumns ? 'żółć = '.length + 1 : null);
  });

  test('whose text cannot be made is still an exception', async () => {
    const code = py`
      class Odd(Exception):
          def __str__(self): raise RuntimeError("no text")
      raise Odd
    `;
    expect((await raised(code)).type).toBe('Odd');
  });

  test('KeyboardInterrupt counts as one', async () => {
    expect((await raised('raise KeyboardInterrupt')).type).toBe('KeyboardInterrupt');
  });

  test('keeps what was printed before it', async () => {
    const { stdout, verdict } = await pungi.run({
      code: 'print("before", end=" ")\nprint("it", end="")\n1/0',
    });
    expect(verdict.kind).toBe('python-error');
    expect(stdout.text).toBe('before it');
  });
});

describe('a syntax error', () => {
  test('has its line, column and text', async () => {
    const exception = await raised('a = 1\nb = (2 +\nc = = 3\n');
    expect(exception.type).toBe('SyntaxError');
    const second = await raised('print("fine")\nx = 1 +\n');
    expect(second).toMatchObject({ line: 2, column: 8, text: 'x = 1 +' });
    expect(second.sentence).toContain('(line 2)');
  });

  test('runs nothing before it', async () => {
    const { stdout } = await pungi.run({ code: 'print("fine")\nx = 1 +\n' });
    expect(stdout.text).toBe('');
  });

  test('has a traceback that shows the code and nothing of ours', async () => {
    const { traceback } = await raised('x = 1 +\n');
    expect(traceback).toContain('File "main.py", line 1\n    x = 1 +\n');
    expect(traceback.match(/File "/g)).toHaveLength(1);
  });

  test.each([
    ['IndentationError', 'if True:\nprint(1)', 2],
    ['TabError', 'if True:\n        a = 1\n\tb = 2', 3],
    ['SyntaxError', 'return 1', 1],
    ['SyntaxError', 'x = 1\nbreak', 2],
  ])('%s in %j is one too', async (type, code, line) => {
    expect(await raised(code)).toMatchObject({ type, line });
  });

  test('of code that the run itself compiles is placed at the line that compiles it', async () => {
    expect(await raised('x = 1\nexec("1 +")')).toMatchObject({
      type: 'SyntaxError',
      line: 2,
      text: 'exec("1 +")',
    });
  });
});

describe('a missing module', () => {
  test('is named, with what to do about it', async () => {
    const exception = await raised('import no_such_module.deeper');
    expect(exception.type).toBe('ModuleNotFoundError');
    expect(exception.missingModule).toBe('no_such_module');
    expect(exception.hint).toMatch(/"no_such_module" is not in the environment .*install/);
  });

  test('one that the code tries and does without is no error', async () => {
    expectOk(await pungi.run({ code: 'try:\n    import no_such_module\nexcept ImportError:\n    pass' }));
  });

  test('a name missing from a module is not a missing module', async () => {
    expect(await raised('from json import nothing')).toMatchObject({
      type: 'ImportError',
      missingModule: null,
      hint: null,
    });
  });
});

describe('the source lines of a traceback', () => {
  test('have their carets below what failed, also without a final newline', async () => {
    const { verdict } = await pungi.run({ code: 'x = 0\n1/x' });
    const traceback = verdict.kind === 'python-error' ? verdict.exception.traceback : '';
    expect(traceback).toMatch(/^ {4}1\/x\n( {4}~\^~\n)?ZeroDivisionError/m);
  });

  test('are counted as Python counts them, whatever separators a string holds', async () => {
    const { verdict } = await pungi.run({ code: 'a = "x\u2028y\f"\nb = 2\nc = 1/0' });
    expect(verdict).toMatchObject({ kind: 'python-error', exception: { line: 3, text: 'c = 1/0' } });
  });
});
