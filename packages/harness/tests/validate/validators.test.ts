import { describe, expect, test } from 'vitest';
import { ScriptConfig } from '../../../core/src/contract/spec.js';
import { Failure } from '../../../core/src/contract/test-report.js';
import { sharedPungi } from '../../../core/tests/engine/pungi.js';
import type { PlannedScript } from '../../src/spec/scripts.js';
import { engineConfigOf, PythonValidators } from '../../src/validate/python-validators.js';

const pungi = sharedPungi();
const validators = () => new PythonValidators({}, pungi);
const script = (source: string, more: Partial<PlannedScript> = {}): PlannedScript => ({
  name: 'total is right',
  language: 'python',
  execution_phase: 'after',
  required: true,
  source,
  ...more,
});
const RESPONSE = { content: [{ type: 'text', text: 'four' }], items: { total: 4 } };

describe('a script', () => {
  test('that passes leaves nothing but its logs', async () => {
    expect(await validators().run(script('log("debug", "seen")'), {})).toEqual({
      failures: [],
      advisories: [],
      logs: [{ level: 'debug', message: 'seen', timeMs: expect.any(Number), script: 'total is right' }],
      run: {
        name: 'total is right',
        status: 'passed',
        durationMs: expect.any(Number),
        cpuMs: expect.any(Number),
        memoryMb: expect.any(Number),
      },
    });
  });

  test('gives failures of the report, with its name and line', async () => {
    const source = 'fail("too small", field="$.total", expected=4, actual=3)\nassert 1 == 2, "never"';
    const { failures } = await validators().run(script(source), {});
    expect(Failure.array().parse(failures)).toEqual([
      {
        kind: 'script',
        message: 'too small',
        path: '$.total',
        expected: 4,
        actual: 3,
        script: 'total is right',
        line: 1,
      },
      { kind: 'script', message: 'never (line 2)', script: 'total is right', line: 2 },
    ]);
  });

  test('that compares structures gives a diff', async () => {
    const { failures } = await validators().run(
      script('fail("differs", expected={"a": 1}, actual={"a": 2})'),
      {},
    );
    expect(failures[0]?.diff).toMatch(/^- .*1[\s\S]*^\+ .*2/m);
  });

  test('that is not required advises, whatever happens to it', async () => {
    for (const source of ['fail("so")', '1/0', 'x = (']) {
      const found = await validators().run(script(source, { required: false }), {});
      expect([found.failures.length, found.advisories.length]).toEqual([0, 1]);
    }
  });

  test.each([
    [
      'x = (',
      'The script "total is right" failed: The script cannot be compiled: \'(\' was never closed (line 1).',
    ],
    ['{}["a"]', 'The script "total is right" failed: KeyError: \'a\' (line 1)'],
    ['import sys; sys.exit(2)', 'The script "total is right" failed: The script ended with status 2.'],
  ])('says who failed: %s', async (source, message) => {
    expect((await validators().run(script(source), {})).failures).toMatchObject([
      { kind: 'script', message },
    ]);
  });

  test('has a name of its own in tracebacks, and a time of its own', async () => {
    const named = script('import sys\nlog(sys._getframe().f_code.co_filename)', { name: 'a/b: c' });
    const { logs } = await validators().run(named, {});
    expect(logs[0]?.message).toBe('a_b_c.py');
    const from = await validators().run({ ...named, file: '/somewhere/check.py' }, {});
    expect(from.logs[0]?.message).toBe('check.py');
    const { failures } = await validators().run(script('while True: pass', { timeout_ms: 300.5 }), {});
    expect(failures[0]?.message).toContain('ended after 301 ms');
  });

  test('calls the function that it names', async () => {
    const source = 'def check(context): return context["response"]["items"]["total"] == 5';
    const { failures } = await validators().run(script(source, { function: 'check' }), {
      response: RESPONSE,
    });
    expect(failures).toMatchObject([{ message: 'The script returned False.' }]);
  });
});

test('session variables go from script to script, and what runs at once does not undo the other', async () => {
  const one = validators();
  await one.run(script('session["token"] = {"id": "null"}\nsession["gone"] = 1'), {});
  await Promise.all(['a', 'b', 'c'].map((name) => one.run(script(`session["${name}"] = 1`), {})));
  const { failures } = await one.run(
    script('del session["gone"]\nassert session["token"]["id"] == "null"'),
    {},
  );
  expect(failures).toEqual([]);
  expect(one.session).toEqual({ token: { id: 'null' }, a: 1, b: 1, c: 1 });
  expect(validators().session).toEqual({});
});

test('a script that cannot be compiled is told each time, and mended ones run', async () => {
  const one = validators();
  for (let time = 0; time < 2; time += 1)
    expect((await one.run(script('x = ('), {})).failures[0]?.line).toBe(1);
  expect((await one.run(script('x = ()'), {})).failures).toEqual([]);
});

describe('expressions', () => {
  const evaluate = (expressions: string[], context = {}) =>
    validators().evaluate(expressions, { response: RESPONSE, variables: { wanted: 4 }, ...context });

  test('hold over response, variables and session, with brackets or dots', async () => {
    const found = await evaluate([
      'response["items"]["total"] == 4',
      'response.items.total == wanted == variables.wanted',
      'response.content[0].text.startswith("fo")',
      'all(block.type == "text"\n  for block in response.content)',
      'request is None and context.metadata == {} and session == {}',
      'get("response.items.total") > 3',
    ]);
    expect(found).toEqual({ failures: [], advisories: [], logs: [] });
  });

  test('are judged one by one, and tell what they looked at', async () => {
    const { failures } = await evaluate([
      'response.items.total == 5',
      'wanted > 9',
      '1 +',
      'response.itemz',
      'True',
    ]);
    expect(Failure.array().parse(failures)).toEqual([
      {
        kind: 'expectation',
        message: '`response.items.total == 5` does not hold: response.items.total is 4',
        expected: 5,
        actual: 4,
      },
      { kind: 'expectation', message: '`wanted > 9` does not hold: wanted is 4' },
      { kind: 'expectation', message: expect.stringContaining('`1 +` is no Python expression') },
      {
        kind: 'expectation',
        message:
          "`response.itemz` cannot be evaluated: AttributeError: there is no 'itemz' here, only content, items",
      },
    ]);
  });

  test('that never end are ended', async () => {
    const one = new PythonValidators({ timeoutMs: 300 }, pungi);
    const { failures } = await one.evaluate(['sum(iter(int, 1))'], {});
    expect(failures).toMatchObject([
      {
        kind: 'expectation',
        message: expect.stringContaining('The expressions failed: The run was ended after 300 ms'),
      },
    ]);
  });
});

test('the limits of script_config hold', async () => {
  const config = ScriptConfig.parse({ environment: 'e', security: { timeout_ms: 250, memory_limit_mb: 40 } });
  expect(engineConfigOf(config)).toEqual({ environment: 'e', timeoutMs: 250, memoryLimitMb: 40 });
  expect(engineConfigOf(ScriptConfig.parse({}))).toEqual({});
  expect(engineConfigOf(undefined)).toEqual({});
  const narrow = new PythonValidators({ memoryLimitMb: 40 }, pungi);
  const { failures } = await narrow.run(script('x = bytearray(80_000_000)'), {});
  expect(failures[0]?.message).toContain('more than 40 MB');
});
