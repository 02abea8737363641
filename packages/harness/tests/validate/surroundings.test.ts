import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { sharedPungi, temporaryFolder } from '../../../core/tests/engine/pungi.js';
import { PythonEngine } from '../../src/validate/python-engine.js';
import { PythonValidators } from '../../src/validate/python-validators.js';
import type { ScriptContext } from '../../src/validate/runner.js';
import { ScriptEngine } from '../../src/validate/script-engine.js';
import { messagesOf, over, runFile } from '../run/suites.js';

const pungi = sharedPungi();
const engine = new ScriptEngine({}, pungi);
const root = temporaryFolder();

function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(root, 'beside-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const CONTEXT: ScriptContext = {
  request: { method: 'tools/call' },
  response: { text: 'grün 🌍 \u2028 null', n: [1, 2.5, null] },
  metadata: {
    test_name: 'adds ü',
    test_id: 'tool/add/adds ü',
    tool_name: 'add',
    phase: 'after',
    server_info: { name: 'shop', version: '1.2.3' },
  },
};

describe('the context', () => {
  test.each([
    ['on standard input', 'import json, sys\njson.load(sys.stdin) == context'],
    ['on standard input, by input()', 'import json\njson.loads(input()) == context'],
    ['in a file', 'import json, os\njson.load(open(os.environ["MCP_CONTEXT_FILE"])) == context'],
    [
      'for another process',
      py`
        import json, subprocess, sys
        code = "import json, os, sys; a = json.load(sys.stdin); print(a == json.load(open(os.environ['MCP_CONTEXT_FILE'])))"
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "True"
      `,
    ],
    [
      'in environment variables',
      py`
        import os
        {name: value for name, value in os.environ.items() if name.startswith("MCP_") and name != "MCP_CONTEXT_FILE"} == {
            "MCP_TEST_NAME": "adds ü", "MCP_TEST_ID": "tool/add/adds ü", "MCP_TOOL_NAME": "add", "MCP_PHASE": "after",
            "MCP_SERVER_NAME": "shop", "MCP_SERVER_VERSION": "1.2.3",
        }
      `,
    ],
    [
      'from the helper',
      'import pungi\nfrom pungi import context as c, get, session\nc is context and pungi.get("request.method") == "tools/call"',
    ],
  ])('is there %s', async (_, script) => {
    expect(await engine.executeScript(script, CONTEXT)).toMatchObject({
      output: true,
      error: null,
      logs: [],
    });
  });

  test('that says nothing, or odd things, is there all the same', async () => {
    const script = 'import json, os, sys\n[json.load(sys.stdin) == context, os.environ.get("MCP_TEST_NAME")]';
    expect((await engine.executeScript(script)).output).toEqual([true, null]);
    const odd = await engine.executeScript(script, { metadata: { test_name: 'a\0b\ud800' } });
    expect(odd.output).toEqual([true, 'a\ufffdb?']);
  });

  const FOREIGN: [message: string, context: unknown][] = [
    ['context.response must be JSON; got NaN.', { response: Number.NaN }],
    [
      'context.variables.a[1] must be JSON; got Infinity.',
      { variables: { a: [1, Number.POSITIVE_INFINITY] } },
    ],
    ['context.custom must be JSON; got 5.', { custom: 5n }],
    ['context.custom must be JSON; got a function.', { custom: () => 1 }],
    ['context must be an object; got 42.', 42],
    ['context must be an object; got null.', null],
    ['context must be an object; got [1].', [1]],
  ];

  test.each(FOREIGN)(
    'that JSON would change is refused: %s',
    async (message, context) => {
      const { error } = await engine.executeScript('1', context as ScriptContext);
      expect(error).toMatchObject({ kind: 'INVALID_INPUT', message });
    },
    20_000,
  );

  test('that holds itself is refused, and one that holds a value twice is not', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect((await engine.executeScript('1', { custom: circle })).error).toMatchObject({
      kind: 'INVALID_INPUT',
    });
    const shared = { a: 1 };
    expect((await engine.executeScript('1', { custom: [shared, shared] })).success).toBe(true);
  });
});

describe('what the engine is called with is checked', () => {
  test.each([
    [
      'executeScript(42)',
      () => engine.executeScript(42 as never),
      'script must be a string of Python source; got 42.',
    ],
    [
      'executeScript()',
      () => engine.executeScript(undefined as never),
      'script must be a string of Python source; got undefined.',
    ],
    [
      'executePrecompiled(undefined)',
      () => engine.executePrecompiled(undefined as never),
      'script must be a result of precompileScript; got undefined.',
    ],
    [
      'executePrecompiled({})',
      () => engine.executePrecompiled({} as never),
      'script must be a result of precompileScript; got {}.',
    ],
    [
      'options null',
      () => engine.executeScript('1', {}, null as never),
      'options must be an object; got null.',
    ],
    [
      'timeoutMs NaN',
      () => engine.executeScript('1', {}, { timeoutMs: Number.NaN }),
      'options.timeoutMs must be a number above 0, at most 600000; got NaN.',
    ],
    [
      'filename 3',
      () => engine.executeScript('1', {}, { filename: 3 as never }),
      'options.filename must be a string; got 3.',
    ],
  ])('%s', async (_, call, message) => {
    expect((await call()).error).toMatchObject({ kind: 'INVALID_INPUT', message });
  });

  test.each([
    [{ timeoutMs: 'x' }, 'timeoutMs: must be a number'],
    [{ memoryLimitMb: Number.NaN }, 'memoryLimitMb: must be a number'],
    [{ maxConcurrent: 0 }, 'maxConcurrent: must be more than 0'],
    [{ timout: 3 }, 'timout: is not known'],
    [null, 'must be an object'],
  ])('a configuration of %j', (config, said) => {
    const message = `The configuration of the Python engine is not valid: ${said}.`;
    expect(() => new ScriptEngine(config as never, pungi)).toThrow(
      expect.objectContaining({ kind: 'INVALID_INPUT', message }),
    );
  });

  test('precompileScript(42) throws it', async () => {
    await expect(engine.precompileScript(42 as never)).rejects.toMatchObject({ kind: 'INVALID_INPUT' });
  });
});

describe('modules beside a script', () => {
  const files = {
    'prices.py': 'from money.rounding import rounded\nTAX = 0.2\ndef gross(n): return rounded(n * (1 + TAX))',
    'money/__init__.py': '',
    'money/rounding.py': 'def rounded(n): return round(n, 2)',
    'unused.py': 'raise RuntimeError("never")',
    'broken-name.py': '1/0',
    'data.txt': 'x',
  };

  test('are imported, with the packages and modules that they import', async () => {
    const folder = folderOf(files);
    const script =
      'import os, prices\n[prices.gross(10), sorted(set(os.listdir()) - {"__pycache__"}), prices.__file__.endswith("prices.py")]';
    const { output, error } = await engine.executeScript(script, {}, { folder });
    expect(error).toBeNull();
    expect(output).toEqual([12, ['money', 'prices.py'], true]);
    const compiled = await engine.precompileScript('from prices import gross\ngross(5)');
    expect((await engine.executePrecompiled(compiled, {}, { folder })).output).toBe(6);
  });

  test('are imported by scripts of a specification: beside their file, or beside the specification', async () => {
    const folder = folderOf({
      'spec.yaml': `
name: s
server: { command: ${process.execPath}, args: [${JSON.stringify(over('good.mjs').args[0])}] }
validation_scripts:
  - { name: inline, source: "import near\\nassert near.WHERE == 'spec'\\nfail(near.WHERE)" }
  - { name: from file, file: checks/check.py }
tools:
  - name: add
    tests:
      - { name: adds, input: { a: 1, b: 1 }, validation_scripts: [inline, from file] }
`,
      'near.py': 'WHERE = "spec"',
      'checks/check.py': 'import near\nfrom pungi import context, expect, log\nexpect(False, near.WHERE)',
      'checks/near.py': 'WHERE = "checks"',
    });
    const { named } = await runFile(join(folder, 'spec.yaml'), {
      validators: new PythonValidators({}, pungi),
    });
    expect(messagesOf(named('adds'))).toEqual(['spec', 'checks']);
    expect(named('adds').scripts).toMatchObject([
      { name: 'inline', phase: 'after', status: 'failed' },
      { name: 'from file', phase: 'after', status: 'failed' },
    ]);
  });

  test('that are too many are refused', async () => {
    const folder = folderOf({
      'large.py': `x = "${'x'.repeat(3_900_000)}"`,
      'larger.py': `y = "${'y'.repeat(900_000)}"`,
    });
    const { error } = await engine.executeScript('import large, larger', {}, { folder });
    expect(error).toMatchObject({ kind: 'INVALID_INPUT', message: expect.stringContaining('4194304 bytes') });
  });

  test.each([{ 'pungi.py': 'WHO = "mine"' }, { 'pungi/__init__.py': 'WHO = "mine"', 'pungi/frames.py': '' }])(
    'a module "pungi" of one\'s own is used, and a log line says so: %j',
    async (own) => {
      const script = 'import pungi\nimport json, decimal\nexpect(pungi.WHO == "mine")\npungi.WHO';
      const { output, logs, error } = await engine.executeScript(script, {}, { folder: folderOf(own) });
      expect({ output, error }).toEqual({ output: 'mine', error: null });
      expect(logs).toMatchObject([
        { level: 'warning', message: expect.stringContaining('next to the script') },
      ]);
    },
  );
});

test('the engine of the library offers the same', async () => {
  const library = await PythonEngine.create({}, pungi);
  const folder = folderOf({ 'near.py': 'N = 7' });
  const script =
    'import json, near, os, sys\nfrom pungi import expect, log\n[near.N, json.load(sys.stdin)["request"], os.environ["MCP_TOOL_NAME"]]';
  const { output } = await library.executeScript(
    script,
    { request: 1, metadata: { tool_name: 'add' } },
    { folder },
  );
  expect(output).toEqual([7, 1, 'add']);
  expect((await library.executeScript(42 as never)).error).toMatchObject({ kind: 'INVALID_INPUT' });
});
