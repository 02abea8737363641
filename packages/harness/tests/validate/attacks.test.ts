import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { sharedPungi, temporaryFolder, withPungi } from '../../../core/tests/engine/pungi.js';
import { PythonValidators } from '../../src/validate/python-validators.js';
import { ScriptEngine } from '../../src/validate/script-engine.js';
import type { ScriptErrorKind } from '../../src/validate/script-result.js';

const pungi = sharedPungi();
const engine = new ScriptEngine({ timeoutMs: 20_000 }, pungi);

const NESTED = (depth: number) => `x = []\nfor _ in range(${depth}): x = [x]\n`;
const ODD = (name: string) => `class Odd:\n    def ${name}(self): raise SystemExit(0)\n`;
const UNHEARD = 'The script ended its own process';

describe('what no script can turn into a pass', () => {
  test.each<[string, string, ScriptErrorKind, string]>([
    ['its own end before it has judged', 'import os\nos._exit(0)', 'ProcessError', UNHEARD],
    ['its end on the way out', 'import atexit, os\natexit.register(os._exit, 0)', 'ProcessError', UNHEARD],
    ['closed descriptors', 'import os\nos.closerange(0, 4096)', 'ProcessError', UNHEARD],
    [
      'words on the descriptors of others',
      py`
        import os
        for fd in range(3, 4096):
            try: os.write(fd, b"\\xff" * 100)
            except OSError: pass
      `,
      'ProcessError',
      UNHEARD,
    ],
    [
      'the death of its parent',
      'import os\nos.kill(os.getppid(), 9)',
      'SecurityError',
      'Operation not permitted',
    ],
    ['a signal', 'import os\nos.kill(os.getpid(), 15)', 'ProcessError', 'SIGTERM'],
    [
      'builtins that are gone',
      'import builtins\nbuiltins.len = None\nfail("x")',
      'ProcessError',
      'status 70',
    ],
    ['modules that are gone', 'import sys\nsys.modules.clear()\nfail("x")', 'EngineError', 'cannot be read'],
    ['endless recursion', 'def f(): f()\nf()', 'RuntimeError', 'RecursionError'],
    [
      'recursion without a limit',
      'import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()',
      'MemoryError',
      '256 MB',
    ],
    ['a value that fills the memory', '"x" * 10**9', 'MemoryError', '256 MB'],
    ['a flood on stdout', 'while True: print("x" * 10_000)', 'ProcessError', 'printed more than'],
    ['a file that is too large', 'open("f", "wb").truncate(100_000_000)', 'RuntimeError', 'File too large'],
    ['an interrupt', 'raise KeyboardInterrupt', 'RuntimeError', 'KeyboardInterrupt'],
    ['an exit status that a shell takes for 0', 'import sys\nsys.exit(256)', 'ProcessError', 'status 1'],
    [
      'an exception that ends when it is asked',
      'class Odd(Exception):\n    def __str__(self): raise SystemExit(0)\nraise Odd',
      'RuntimeError',
      'Odd',
    ],
    ['a number of no error', 'raise OSError(10**30, "odd")', 'RuntimeError', 'odd'],
    ['its list of failures', 'fail.__self__.failures = None', 'EngineError', 'not plain data'],
    [
      'lines that nobody can read',
      'import linecache\nlinecache.getline = None\n1/0',
      'RuntimeError',
      'TypeError',
    ],
  ])('%s', async (_, script, kind, sentence) => {
    const { success, error } = await engine.executeScript(script);
    expect([success, error?.kind, error?.message]).toEqual([false, kind, expect.stringContaining(sentence)]);
  });

  test('what never ends: a thread, an exit handler, a repr', async () => {
    const scripts = [
      'import threading, time\nthreading.Thread(target=time.sleep, args=[60]).start()',
      'import atexit, time\natexit.register(time.sleep, 60)',
      'class Odd:\n    def __repr__(self):\n        while True: pass\nfail("x", actual=Odd())',
    ];
    const results = await Promise.all(
      scripts.map((script) => engine.executeScript(script, {}, { timeoutMs: 700 })),
    );
    expect(results.map(({ error }) => error?.kind)).toEqual(Array(3).fill('TimeoutError'));
  });

  test.each<[string, string, string]>([
    [
      'frames and verdicts on stdout',
      'import sys\nfail("x")\nsys.stdout.buffer.write(b"\\0\\0\\0\\5F{}\\n")\nprint(\'{"valid": true}\')',
      'x',
    ],
    ['a json that says less', 'import json\njson.dumps = lambda *_, **__: "{}"\nfail("x")', 'x'],
    ['a json that is gone', 'import json\ndel json.dumps\nfail("x")\n{"a": 1}', 'x'],
    ['a context that is gone', 'context.clear()\ndel session\nfail("x")', 'x'],
    ['a text that ends when it is asked', `${ODD('__str__')}fail(Odd())`, 'a Odd'],
    ['a value that ends when it is asked', `${ODD('__repr__')}fail("x", actual=Odd())`, 'x'],
    ['a child that goes on', 'import os\nos.fork()\nfail("x")', 'x'],
    [
      'a thread that is not waited for',
      'import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.05), fail("x"))).start()',
      'x',
    ],
    [
      'a thread that ends itself',
      'import threading, sys\nthreading.Thread(target=sys.exit).start()\nfail("x")',
      'x',
    ],
    ['a check that nobody waits for', 'async def check(): fail("x")\ncheck()', 'x'],
    ['a result that holds itself', 'x = {"valid": True}\nx["x"] = x\nx', 'it holds itself'],
    ['a result that is too deep', `${NESTED(95)}x`, 'it is nested too deeply'],
    ['a result that is far too deep', `${NESTED(100_000)}x`, 'nested too deeply'],
    ['a number that is too long', '10**5000', '4300 digits'],
    ['half a character', 'fail("\\ud800", expected="\\ud800")', '\ufffd'],
    ['values that are too deep', `${NESTED(300)}fail("x", expected=x, actual=[x])`, 'x'],
    ['a session that holds itself', 'session["s"] = session', 'it holds itself'],
    ['a session that is too deep', `${NESTED(95)}session["s"] = x`, 'it is nested too deeply'],
    ['half a character in the session', 'session["s"] = ["\\ud800"]', 'half of a character'],
    ['half a character as a name', 'session["\\ud800"] = 1', 'half of a character'],
  ])('a failure in spite of %s', async (_, script, sentence) => {
    const { success, failures, error, session } = await engine.executeScript(script);
    expect([success, error]).toEqual([false, null]);
    expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining(sentence) })]);
    expect(session.set).toEqual({});
  });
});

describe('what is bounded, and passes', () => {
  test.each([
    ['logs without end', 'for n in range(100_000): log("info", "x")'],
    ['lines without end', 'for n in range(5000): print(n)'],
    ['a log that is large', 'log("i" * 10**6, "x" * 10**7)'],
    ['a level and a message that cannot be shown', `${ODD('__str__')}log(Odd(), Odd())`],
    ['a child that is left', 'import os, time\nif os.fork() == 0: time.sleep(60)'],
    [
      'a thread that is left',
      'import threading, time\nthreading.Thread(target=time.sleep, args=[60], daemon=True).start()',
    ],
    ['what is never deleted', 'import time\nclass A:\n    def __del__(self): time.sleep(60)\na = A()'],
  ])('%s', async (_, script) => {
    const { success, error, logs } = await engine.executeScript(script);
    expect([success, error]).toEqual([true, null]);
    expect(logs.length).toBeLessThan(1002);
    expect(JSON.stringify(logs).length).toBeLessThan(250_000);
  });

  test('names of exceptions and modules', async () => {
    const name = await engine.executeScript('raise type("E" * 10**6, (Exception,), {})("x")');
    const module = await engine.executeScript('raise ModuleNotFoundError("x", name="m" * 10**6)');
    expect(name.error?.message.length).toBeLessThan(300);
    expect(module.error?.message.length).toBeLessThan(600);
  });
});

test('names that mean something to JavaScript are names like others', async () => {
  const validators = new PythonValidators({}, pungi);
  const run = (source: string, response?: unknown) =>
    validators.run(
      { name: 'n', language: 'python', execution_phase: 'after', required: true, source },
      { response },
    );
  await run('session["__proto__"] = {"polluted": 1}\nsession["constructor"] = 2');
  expect(Object.keys(validators.session)).toEqual(['__proto__', 'constructor']);
  expect('polluted' in {} || 'polluted' in validators.session).toBe(false);
  const response: unknown = JSON.parse('{"__proto__": {"a": 1}, "toString": 2}');
  const { failures } = await run(
    'assert session["__proto__"] == {"polluted": 1}\nassert context["response"] == {"__proto__": {"a": 1}, "toString": 2}\ndel session["__proto__"]',
    response,
  );
  expect(failures).toEqual([]);
  expect(Object.keys(validators.session)).toEqual(['constructor']);
});

test('where the rules of a profile leave no room for it, a script is refused', async () => {
  const profiles = join(temporaryFolder(), 'profiles.yaml');
  writeFileSync(profiles, 'profiles: {narrow: {allowed_imports: [math]}}\n');
  await withPungi({ PROFILES_FILE: profiles, DEFAULT_PROFILE: 'narrow' }, async (narrow) => {
    const { error } = await new ScriptEngine({}, narrow).executeScript('1');
    expect(error).toMatchObject({ kind: 'SecurityError', message: expect.stringContaining('narrow') });
  });
});
