import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { sharedPungi } from '../../../core/tests/engine/pungi.js';
import { PythonValidators } from '../../src/validate/python-validators.js';
import { ScriptEngine } from '../../src/validate/script-engine.js';

/** The rule of docs/testing-servers.md, row by row. */
const pungi = sharedPungi();
const engine = new ScriptEngine({ timeoutMs: 60_000 }, pungi);
const NO = `'{"valid": false}'`;

const FAILING: [what: string, script: string, ...messages: string[]][] = [
  ['a printed verdict', `print(${NO})`, 'The script printed {"valid": false} in line 1 of its output.'],
  ['followed by text', `print(${NO})\nprint("all is well")`, 'printed'],
  ['followed by another verdict', `print(${NO})\nprint('{"valid": true}')`, 'printed'],
  ['followed by a value', `print(${NO})\n{"valid": True}`, 'printed'],
  ['followed by True', `print(${NO})\nTrue`, 'printed'],
  ['followed by sys.exit(0)', `print(${NO})\nimport sys; sys.exit(0)`, 'printed'],
  ['followed by 300,000 lines', `print(${NO})\nfor n in range(300_000): print(n)`, 'printed'],
  [
    'after 300,000 lines, with as many more',
    `for n in range(600_000):\n    if n == 300_000: print(${NO})\n    print(n)`,
    'line 300001',
  ],
  ['twice', `print(${NO})\nprint(${NO})`, 'line 1', 'line 2'],
  ['with its reason', 'print(\'{"valid": false, "reason": "too small"}\')', 'too small'],
  ['with its errors', 'print(\'{"valid": false, "errors": [{"message": "a"}, "b"]}\')', 'a', 'b'],
  ['over several lines', 'import json\nprint(json.dumps({"valid": False, "message": "m"}, indent=2))', 'm'],
  [
    'in pieces',
    'import sys\nfor sign in \'{"valid": false}\': sys.stdout.write(sign); sys.stdout.flush()',
    'printed',
  ],
  ['of 1 MB', 'import json\nprint(json.dumps({"data": "x" * 1_000_000, "valid": False}))', 'printed'],
  [
    'of 10 MB, in lines',
    'import json\nprint(json.dumps({"data": ["x" * 99] * 100_000, "valid": False}, indent=1))',
    'printed',
  ],
  ['by os.write', `import os\nos.write(1, b${NO})`, 'printed'],
  ['by another process', `import subprocess\nsubprocess.run(["echo", ${NO}])`, 'printed'],
  ['by a thread', `import threading\nthreading.Thread(target=print, args=[${NO}]).start()`, 'printed'],
  ['before an exception', `print(${NO})\n1/0`, 'printed'],
  ['before os._exit(0)', `print(${NO}, flush=True)\nimport os; os._exit(0)`, 'printed'],
  [
    'with NaN beside it',
    'import json\nprint(json.dumps({"score": float("nan"), "valid": False}))',
    'printed',
  ],
  ['False', 'False', 'The script returned False.'],
  ['a returned False', 'return 1 > 2', 'The script returned False.'],
  ['a returned verdict', '{"valid": False}', 'The script returned {"valid": false}.'],
  ['a returned verdict with errors', 'return {"valid": False, "errors": ["a", "b"]}', 'a', 'b'],
  ['an expect', 'expect(False, "m")', 'm'],
  ['an expect that is returned', 'return expect(False, "m")', 'm'],
  ['an expect in a verdict', '{"valid": expect(False, "m")}', 'm'],
  ['an expect in an assertion', 'assert expect(\n    False,\n    "m")', 'm'],
  ['two expects', 'expect(False, "a") and expect(True)\nexpect(False, "b")', 'a', 'b'],
  ['a fail', 'fail("m")', 'm'],
  ['a fail and a printed verdict', `fail("m")\nprint(${NO})`, 'm', 'printed'],
];

const PASSING: [what: string, script: string][] = [
  ['nothing at all', ''],
  ['a printed verdict', 'print(\'{"valid": true}\')'],
  [
    'debugging output with errors',
    'import json\nprint(json.dumps({"errors": ["a"], "success": False, "passed": False}))',
  ],
  ['a value with errors', '{"errors": ["a"]}'],
  ['a nested verdict', 'print(\'{"response": {"valid": false}}\')'],
  ['a verdict that is a text', 'print(\'{"valid": "false"}\')'],
  ['a verdict in a list', 'print(\'[{"valid": false}]\')'],
  ['a verdict inside of text', `print("got", ${NO})`],
  ['a verdict on stderr', `import sys\nprint(${NO}, file=sys.stderr)`],
  ['a verdict in a log', `log("info", ${NO})`],
  ['the word false', 'print("false")'],
  ['zero', '0'],
  ['an expect that holds', 'expect(True, "m")'],
];

describe('fails by', () => {
  test.each(FAILING)('%s', async (_, script, ...messages) => {
    const { success, failures } = await engine.executeScript(script);
    expect(success).toBe(false);
    for (const [index, message] of messages.entries()) expect(failures[index]?.message).toContain(message);
    expect(failures).toHaveLength(messages.length);
  });
});

test.each(PASSING)('passes with %s', async (_, script) => {
  expect(await engine.executeScript(script)).toMatchObject({ success: true, failures: [], error: null });
});

test('an exit status after a failed expect is no second failure, and is still the kind of error', async () => {
  const script = { name: 's', language: 'python', execution_phase: 'after', required: true } as const;
  const source = 'import sys\nif not expect(False, "m"): sys.exit(3)';
  const { failures, run } = await new PythonValidators({}, pungi).run({ ...script, source }, {});
  expect(failures.map(({ message }) => message)).toEqual(['m']);
  expect(run).toMatchObject({ status: 'failed', errorKind: 'ProcessError' });
});

describe('output', () => {
  const stdoutOf = async (script: string) =>
    (await engine.executeScript(script)).logs
      .filter(({ level }) => level === 'stdout')
      .map(({ message }) => message)
      .join('\n');

  test.each([
    ['JSON in the last line', 'print("a")\nprint(3)', 'a\n3'],
    ['JSON alone', 'print("[1]")', '[1]'],
    ['a result as well', 'print("a")\n{"b": 1}', 'a'],
    ['empty lines', 'print()\nprint("a")\nprint()', '\na\n'],
    ['no line end', 'print("a\\nb", end="")', 'a\nb'],
    ['before an exception', 'print("a")\n1/0', 'a'],
    ['before os._exit', 'print("a", flush=True)\nimport os; os._exit(0)', 'a'],
  ])('is kept: %s', async (_, script, text) => {
    expect(await stdoutOf(script)).toBe(text);
  });

  test('of 20,000 lines is kept whole', async () => {
    const lines = (await stdoutOf('for n in range(20_000): print(n)')).split('\n');
    expect([lines.length, lines[1500], lines.at(-1)]).toEqual([20_000, '1500', '19999']);
  });

  test('beyond 256 KiB keeps its head and its tail, and says how much is missing', async () => {
    const text = await stdoutOf('for n in range(200_000): print(n)');
    expect(text).toMatch(/^0\n1\n[\s\S]*\n… 1?\d{6} bytes left out …\n[\s\S]*\n199999$/);
    expect(text.length).toBeGreaterThan(250_000);
  });

  test('of logs keeps the first and the last, and says how many are missing', async () => {
    const { logs } = await engine.executeScript('for n in range(5000): log("info", n)');
    expect(logs.map(({ message }) => message)).toContain('… 4000 log lines are left out …');
    expect(logs.at(-1)?.message).toBe('4999');
  });

  test('of failures says how many are missing', async () => {
    const { failures } = await engine.executeScript('for n in range(1000): fail(n)');
    expect(failures.at(-1)?.message).toBe('900 more failures are left out.');
  });
});

test('CPU time and memory of a script are told', async () => {
  const { cpuMs, memoryMb } = await engine.executeScript(py`
    x = bytearray(30_000_000)
    for n in range(3_000_000): pass
  `);
  expect(cpuMs).toBeGreaterThan(5);
  expect(memoryMb).toBeGreaterThan(30);
});
