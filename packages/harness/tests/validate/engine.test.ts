import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { until } from '../../../../tests/support/until.js';
import { sha256 } from '../../../core/src/base/sha256.js';
import { sharedPungi } from '../../../core/tests/engine/pungi.js';
import { ScriptEngine } from '../../src/validate/script-engine.js';

const pungi = sharedPungi();
const engine = new ScriptEngine({}, pungi);

test('a script that begins with a byte order mark is compiled and run, with its packages', async () => {
  const script = '\ufeff# /// script\n# dependencies = []\n# ///\n__import__("sys").prefix';
  expect(await engine.syntaxErrorOf(script)).toBeUndefined();
  const compiled = await engine.precompileScript(script);
  for (const result of [await engine.executeScript(script), await engine.executePrecompiled(compiled)]) {
    expect(result).toMatchObject({ error: null, output: expect.stringContaining('inline-') });
  }
});

describe('a script passes', () => {
  test.each([
    ['by coming to its end', 'x = 1', null],
    ['with its last expression', '{"total": 4}', { total: 4 }],
    ['with True', 'context is not None', true],
    ['with {"valid": True}', '{"valid": True, "errors": []}', { valid: true, errors: [] }],
    ['by a return outside of functions', 'if 1:\n    return [1]\nraise ValueError', [1]],
    [
      'by a return below an import from the future',
      'from __future__ import annotations\nx: Any = 1\nif x: return x',
      1,
    ],
    ['with the JSON that it prints', 'import json\nprint(json.dumps({"a": None}))', { a: null }],
    ['with the JSON of the last line', 'print("so")\nprint("[1, 2]")', [1, 2]],
    ['by sys.exit(0)', 'import sys\nsys.exit(0)', null],
    ['with 0, which is not False', '0', 0],
    [
      'as the main module',
      'import __main__\n__name__ == "__main__" and __main__.__file__.endswith("script.py")',
      true,
    ],
  ])('%s', async (_, script, output) => {
    expect(await engine.executeScript(script)).toMatchObject({
      success: true,
      output,
      failures: [],
      error: null,
    });
  });
});

describe('a script fails', () => {
  test.each([
    ['False', '1 > 2', { message: 'The script returned False.' }],
    ['{"valid": False} and its reason', '{"valid": False, "reason": "too small"}', { message: 'too small' }],
    ['a printed verdict', 'print(\'{"valid": false, "message": "no"}\')', { message: 'no' }],
    [
      'errors with their fields',
      '{"valid": False, "errors": [{"message": "m", "field": "$.a", "expected": 1, "actual": [2]}]}',
      { message: 'm', path: '$.a', expected: 1, actual: [2] },
    ],
    [
      'a verdict that is too large to be read',
      '{"valid": True, "data": "x" * 1_000_000}',
      { message: expect.stringContaining('cannot be read') },
    ],
  ])('with %s', async (_, script, failure) => {
    const result = await engine.executeScript(script);
    expect(result).toMatchObject({ success: false, failures: [failure], error: null });
  });
});

describe('an error has its kind', () => {
  test.each([
    ['SyntaxError', 'x = 1\ny = (', { line: 2, text: 'y = (' }, 'never closed'],
    ['RuntimeError', 'x = 1\n1/0', { line: 2, exception: 'ZeroDivisionError' }, 'division by zero (line 2)'],
    ['RuntimeError', 'compile("(", "other", "eval")', { exception: 'SyntaxError', line: 1 }, 'never closed'],
    [
      'ImportError',
      'import nowhere.else_',
      { module: 'nowhere' },
      'if it is a package, install it with: pungi env install default',
    ],
    ['ImportError', 'from json import nothing', { module: 'json' }, 'cannot import name'],
    ['TimeoutError', 'while True: pass', { timeoutMs: 700 }, '700 ms'],
    ['ProcessError', 'import sys; sys.exit(3)', { code: 3 }, 'status 3'],
    ['ProcessError', 'import sys; sys.exit("total is wrong")', { code: 1 }, 'total is wrong'],
    ['ProcessError', 'import os; os._exit(4)', { code: 4 }, 'status 4'],
    ['ProcessError', 'fail("lost")\nimport os; os._exit(0)', { code: 0 }, 'findings are lost'],
    ['ProcessError', 'import os; os.kill(os.getpid(), 9)', { code: null }, 'SIGKILL'],
    [
      'ProcessError',
      'import os, time\nfor n in range(100):\n    if os.fork() == 0: time.sleep(60)',
      { code: null },
      'processes',
    ],
    ['MemoryError', 'x = bytearray(10**9)', { limitMb: 256 }, '256 MB'],
    ['SecurityError', 'open("/etc/passwd", "a")', { line: 1 }, 'sandbox refused'],
    [
      'SecurityError',
      'import socket; socket.create_connection(("192.0.2.1", 80))',
      { line: 1 },
      'sandbox refused',
    ],
  ])('%s: %s', async (kind, script, details, sentence) => {
    const { success, error } = await engine.executeScript(
      script,
      {},
      { timeoutMs: kind === 'TimeoutError' ? 700 : 20_000 },
    );
    expect([success, error?.kind]).toEqual([false, kind]);
    expect(error?.details).toMatchObject(details);
    expect(error?.message).toContain(sentence);
  });

  test('EngineError where the context cannot be handed over', async () => {
    const { error } = await engine.executeScript('1', { response: 'x'.repeat(7_000_000) });
    expect(error).toMatchObject({ kind: 'EngineError', message: expect.stringContaining('6291456 bytes') });
  });

  test('EngineError where the environment does not exist', async () => {
    const { error } = await new ScriptEngine({ environment: 'absent' }, pungi).executeScript('1');
    expect(error).toMatchObject({ kind: 'EngineError', message: expect.stringContaining('absent') });
  });
});

test('a traceback names the file, the line and the function of the script, and nothing of ours', async () => {
  const script = py`
    def check(response):
        return response["total"]

    check({})
  `;
  const { error } = await engine.executeScript(script, {}, { filename: 'totals.py' });
  expect(error?.details.traceback).toContain(
    'File "totals.py", line 2, in check\n    return response["total"]\n',
  );
  expect(error?.details.traceback).not.toContain('validator');
  expect(error?.details).toMatchObject({ line: 2, text: 'return response["total"]' });
});

test('an assertion without a message tells the values that it compared', async () => {
  const script = 'answer = {"items": [4]}\nassert (\n  answer["items"][0]\n  == 3)';
  const { error } = await engine.executeScript(script);
  expect(error?.message).toContain(
    '`answer["items"][0] == 3` does not hold: answer[\'items\'][0] is 4 (line ',
  );
  expect(error?.details).toMatchObject({ exception: 'AssertionError', expected: 3, actual: 4 });
});

test('what explains an assertion calls nothing again', async () => {
  const script = py`
    calls = []
    def take():
        calls.append(1)
        return len(calls)
    try:
        assert take() == 5
    finally:
        session["calls"] = calls
  `;
  const result = await engine.executeScript(script);
  expect(result.error?.message).toContain('`take() == 5` does not hold');
  expect(result.session.set).toEqual({ calls: [1] });
});

test('logs have their level, message and time, and what is printed is among them', async () => {
  const { logs } = await engine.executeScript(
    'log("WARN", {"a": 1})\nlog("plain")\nimport sys\nprint("e", file=sys.stderr)\nprint("o")',
  );
  const told = logs.map(({ level, message }) => `${level} ${message}`);
  expect(told.toSorted()).toEqual(['info plain', 'stderr e', 'stdout o', "warn {'a': 1}"]);
  expect(logs.every(({ timeMs }) => timeMs >= 0)).toBe(true);
});

test('logs without end are cut, and the script goes on', async () => {
  const { success, logs } = await engine.executeScript('for n in range(100_000): log("info", "x" * 5000)');
  expect(success).toBe(true);
  expect(logs.length).toBeGreaterThan(10);
  expect(logs.length).toBeLessThan(1001);
});

test('duration and memory are those of the script', async () => {
  const small = await engine.executeScript('1');
  const large = await engine.executeScript('x = bytearray(60_000_000)\nlen(x)');
  expect(large.memoryMb - small.memoryMb).toBeGreaterThan(50);
  expect(large.durationMs).toBeGreaterThan(0);
});

test('a script that is cancelled ends with its process', async () => {
  const abort = new AbortController();
  const running = engine.executeScript(
    'print("on", flush=True)\nwhile True: pass',
    {},
    { signal: abort.signal, timeoutMs: 60_000 },
  );
  await until(async () => (await pungi.health()).queue.active === 1, 'the script runs');
  abort.abort();
  expect((await running).error).toMatchObject({ kind: 'EngineError', message: 'The run was cancelled.' });
});

describe('precompiled', () => {
  test('a script runs like the source, with its own context each time', async () => {
    const script = await engine.precompileScript('context["response"] * 2');
    expect(script.bytecode).not.toBe('');
    for (const response of [2, 'a']) {
      const { output } = await engine.executePrecompiled(script, { response });
      expect(output).toBe(response === 2 ? 4 : 'aa');
    }
  });

  test('bytecode of another interpreter is not used', async () => {
    const script = await engine.precompileScript('"from source"');
    const foreign = { ...script, tag: 'cpython-27', ...withBytecode('bm9uc2Vuc2U=') };
    expect(await engine.executePrecompiled(foreign)).toMatchObject({ success: true, output: 'from source' });
  });

  const withBytecode = (bytecode: string) => ({ bytecode, bytecodeSha256: sha256(bytecode) });
  const python = (value: string) =>
    `import marshal, base64; print(base64.b64encode(marshal.dumps(${value})).decode())`;

  test.each([
    ['source that was changed', { source: '2' }, 'script.source'],
    ['bytecode that was changed', { bytecode: 'bm9uc2Vuc2U=' }, 'script.bytecode'],
    ['bytecode that is none', withBytecode('bm9uc2Vuc2U='), 'script.bytecode'],
    ['bytecode that is empty', withBytecode(''), 'script.bytecode'],
    ['bytecode that is no base64', withBytecode('\u00e4'), 'script.bytecode'],
    ['bytecode of something else', python('(1, 2)'), 'script.bytecode'],
    ['bytecode of one code object', python('compile("1", "a", "exec")'), 'script.bytecode'],
  ])('%s is refused by name', async (_, change, argument) => {
    const script = await engine.precompileScript('1');
    const changed =
      typeof change === 'string'
        ? withBytecode((await pungi.run({ code: change })).stdout.text.trim())
        : change;
    expect((await engine.executePrecompiled({ ...script, ...changed })).error).toMatchObject({
      kind: 'INVALID_INPUT',
      message: `${argument} is not a result of precompileScript: compile the script again.`,
    });
  });

  test('a function is called with the context, and may be asynchronous', async () => {
    const source = py`
      async def check(context):
          return {"valid": context["response"] == 1}
      def bare(): return "bare"
      raise_if_run_as_result = True
      "not this"
    `;
    const check = await engine.precompileScript(source, 'check');
    expect((await engine.executePrecompiled(check, { response: 1 })).success).toBe(true);
    expect((await engine.executePrecompiled(check, { response: 2 })).success).toBe(false);
    const bare = await engine.precompileScript(source, 'bare');
    expect((await engine.executePrecompiled(bare)).output).toBe('bare');
  });

  test('a function that is not there is named, with those that are', async () => {
    const script = await engine.precompileScript('def check(context): pass', 'validate');
    const { error } = await engine.executePrecompiled(script);
    expect(error?.message).toContain("the script has no function 'validate', only check");
  });

  test('what does not compile is thrown, with the line', async () => {
    const thrown = await engine.precompileScript('a = 1\nb = = 2').catch((error) => error);
    expect(thrown).toMatchObject({ name: 'ScriptError', kind: 'SyntaxError', details: { line: 2 } });
    expect(thrown.details.text).toBe('b = = 2');
    const null_ = await engine.precompileScript('a = "\0"').catch((error) => error);
    expect(null_).toMatchObject({ kind: 'SyntaxError' });
  });
});
