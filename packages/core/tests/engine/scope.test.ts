import { describe, expect, test } from 'vitest';
import { FIND_CHANNEL } from '../../../../tests/fixtures/hostile/find-channel.mjs';
import { py } from '../../../../tests/support/python.js';
import { jobOf, type Ran, rulesOf, runIn, sharedEngine } from './engine.js';
import { expectOk, verdictOf } from './outcomes.js';

const engine = sharedEngine({ poolSize: 2 });
const NO_OS = rulesOf({ blockedImports: ['os'] });
const NO_SOCKET = rulesOf({ blockedImports: ['socket'] });

const denied = (outcome: Ran) => verdictOf(outcome, 'denied');

describe('code outside of its scope', () => {
  test('is refused before any of it runs, with line, column, rule and profile', async () => {
    const outcome = await runIn(engine, 'print("ran")\n\nimport os', {
      rules: NO_OS,
      profile: { name: 'narrow' },
    });
    const message = 'the profile "narrow" blocks the import of os';
    expect(outcome.verdict).toEqual({
      kind: 'denied',
      code: 'DENIED',
      message: `Line 3, column 1: ${message}.`,
      reason: `Line 3, column 1: ${message}.`,
      profile: 'narrow',
      violations: [{ line: 3, column: 1, rule: 'import', what: 'os', message }],
    });
    expect(outcome.stdout.text).toBe('');
    expect(outcome.profile).toBe('narrow');
  });

  test("says the profile's own sentence first, and how many places more there are", async () => {
    const rules = rulesOf({ blockedImports: ['os'], message: 'Only analysis here.' });
    const one = denied(await runIn(engine, 'import os\nimport os.path', { rules }));
    expect(one.message).toBe(
      'Only analysis here. Line 1, column 1: the profile "narrow" blocks the import of os. 1 more place is out of scope.',
    );
    expect(one.reason).not.toContain('Only analysis here');
    const many = denied(await runIn(engine, 'import os\n'.repeat(80), { rules }));
    expect(many.violations).toHaveLength(50);
    expect(many.message).toMatch(/49 more places are out of scope\.$/);
  });

  test('is ended while it runs, with what it printed before', async () => {
    const code =
      'print("before", end="")\nfor name in ["soc", "ket"]: last = name\n__import__("soc" + last)\nprint("after")';
    const outcome = await runIn(engine, code, { rules: NO_SOCKET });
    expect(denied(outcome).violations).toMatchObject([{ line: 3, rule: 'import', what: 'socket' }]);
    expect(denied(outcome).message).toMatch(/^Line 3.*: the profile "narrow" blocks the import of socket\.$/);
    expect(outcome.stdout.text).toBe('before');
  });

  test.each([
    ['catches everything', 'try:\n    LEAVE\nexcept BaseException: pass\nprint("went on")'],
    [
      'is in a thread',
      'import threading\ndef f(): LEAVE\nt = threading.Thread(target=f)\nt.start()\nt.join()\nprint("went on")',
    ],
    [
      'is in a forked child',
      'import os\npid = os.fork()\nif pid == 0:\n    LEAVE\nos.waitpid(pid, 0)\nprint("went on")',
    ],
    [
      'is in a child that nobody waits for',
      'import os, signal\nif os.fork() == 0:\n    LEAVE\nsignal.pause()',
    ],
    ['is in an exit handler', 'import atexit\natexit.register(lambda: LEAVE)'],
    ['is in a repr', 'class A:\n    def __repr__(self): LEAVE\nA()'.replace('LEAVE', 'return str(LEAVE)')],
    [
      'is in a generator that is dropped',
      'def g():\n    try: yield\n    finally: LEAVE\nh = g()\nnext(h)\ndel h\nprint("went on")',
    ],
  ])('is ended where it %s', async (_, code) => {
    const leave = '__import__("".join(["soc", chr(107), input()]))';
    const outcome = await runIn(engine, code.replace('LEAVE', leave), { rules: NO_SOCKET, stdin: 'et\n' });
    expect(denied(outcome).violations).toMatchObject([{ rule: 'import', what: 'socket' }]);
    expect(outcome.stdout.text).toBe('');
  });

  test('is refused where it was compiled before', async () => {
    const job = jobOf('import os\nprint("ran")');
    const compiled = await engine.compile(job);
    const bytecode = 'bytecode' in compiled ? compiled.bytecode : '';
    expectOk(await runIn(engine, job.code, { bytecode }));
    const outcome = await runIn(engine, job.code, { bytecode, rules: NO_OS });
    expect(denied(outcome).violations).toMatchObject([{ line: 1, what: 'os' }]);
    const hidden = 'print("before")\ngetattr(__builtins__, "__imp" + "ort__")(str("o") + str("s"))';
    const again = await engine.compile(jobOf(hidden));
    const late = { bytecode: 'bytecode' in again ? again.bytecode : '', rules: NO_OS };
    expect(denied(await runIn(engine, hidden, late)).violations).toHaveLength(1);
  });

  test('is refused where it is nested too deeply to be read', async () => {
    const deep = `import os\nx = ${'-'.repeat(2900)}1`;
    const outcome = await runIn(engine, deep, { rules: NO_OS });
    // The compiler of some versions refuses it, too.
    expect(['denied', 'python-error', 'memory-exceeded']).toContain(outcome.verdict.kind);
    const sum = `x = ${Array.from({ length: 900 }, () => '1').join(' + ')}\nimport os`;
    expect(denied(await runIn(engine, sum, { rules: NO_OS })).violations).toMatchObject([{ line: 2 }]);
  });

  test('leaves a worker for the next run', async () => {
    await runIn(engine, 'import os', { rules: NO_OS });
    await runIn(engine, '__import__(input())', { rules: NO_OS, stdin: 'os' });
    expectOk(await runIn(engine, 'import os', { rules: NO_SOCKET }));
    expectOk(await runIn(engine, 'import os, socket'));
  });
});

describe('code within its scope', () => {
  test('awaits outside of functions, where it may not import asyncio either', async () => {
    const rules = rulesOf({ allowedImports: ['math'], blockedOperations: ['network', 'process', 'file'] });
    const awaiting = 'async def f():\n    return 5\nawait f()';
    expect((await runIn(engine, awaiting, { rules })).value?.json).toBe(5);
    const { verdict } = await runIn(engine, `${awaiting}\n__import__("asyncio").run(f())`, { rules });
    expect(verdict.kind).toBe('denied');
  });

  test('a syntax error is a Python error', async () => {
    const outcome = await runIn(engine, 'import os\nx = = 1', { rules: NO_OS });
    expect(verdictOf(outcome, 'python-error').exception).toMatchObject({ type: 'SyntaxError', line: 2 });
  });

  test('its own exceptions are told as without a profile, without frames of the guard', async () => {
    const files = [{ path: 'beside.py', base64: Buffer.from('import json\n1 / 0\n').toString('base64') }];
    const code =
      'try:\n    import beside\nexcept ZeroDivisionError as error:\n    raise ValueError("outer") from error';
    const plain = verdictOf(await runIn(engine, code, { files }), 'python-error').exception;
    const scoped = verdictOf(
      await runIn(engine, code, { files, rules: NO_SOCKET }),
      'python-error',
    ).exception;
    expect(scoped).toEqual(plain);
    expect(scoped.traceback).toContain('beside.py');
    expect(scoped.traceback).not.toContain('pungi');
  });

  test('exit statuses and values come through', async () => {
    expect(verdictOf(await runIn(engine, 'raise SystemExit(3)', { rules: NO_OS }), 'exited').status).toBe(3);
    expect((await runIn(engine, '6 * 7', { rules: NO_OS })).value?.json).toBe(42);
  });
});

describe('what a profile brings', () => {
  test('its imports are there by their names, also where the code itself may not import them', async () => {
    const rules = rulesOf({ allowedImports: ['json'], defaultImports: ['math', 'os.path as p'] });
    const outcome = await runIn(
      engine,
      'print(math.floor(1.5), p.join("a", "b"), collections.abc.__name__)',
      {
        rules: { ...rules, defaultImports: ['math', 'os.path as p', 'collections.abc'] },
        imports: ['math', 'os.path as p', 'collections.abc'],
      },
    );
    expectOk(outcome);
    expect(outcome.stdout.text).toBe('1 a/b collections.abc\n');
    expect(denied(await runIn(engine, 'import math', { rules, imports: ['math'] })).violations).toHaveLength(
      1,
    );
  });

  test('variables come first, then imports; what is not installed is passed over', async () => {
    const more = {
      variables: { math: 'mine', absent: 'kept' },
      imports: ['math', 'absent', 'no_such.part as x'],
    };
    const outcome = await runIn(engine, 'print(math.pi > 3, absent, "x" in dir())', more);
    expect(outcome.stdout.text).toBe('True kept False\n');
  });

  test('using what could not be imported is told with the reason', async () => {
    const imports = ['no_such_module as nsm', 'no_such.part'];
    const raised = async (code: string) =>
      verdictOf(await runIn(engine, code, { imports }), 'python-error').exception;
    const direct = await raised('nsm.f()');
    expect(direct).toMatchObject({ type: 'NameError', missingModule: 'no_such_module' });
    expect(direct.hint).toMatch(
      /^The profile imports no_such_module for the code, but it is not installed in the environment "default"\. /,
    );
    expect((await raised('def f(): return no_such\nf()')).hint).toContain(
      'imports no_such.part for the code',
    );
    for (const other of [
      'other',
      'raise NameError("nsm")',
      'class Own(NameError): pass\nraise Own(name="nsm")',
    ])
      expect(await raised(other)).toMatchObject({ missingModule: null, hint: null });
  });

  test('a file of the caller does not stand in for what the profile imports', async () => {
    const mine = Buffer.from('print("mine ran")').toString('base64');
    const outcome = await runIn(engine, 'print(colorsys.rgb_to_hls(0, 0, 0))', {
      files: [{ path: 'colorsys.py', base64: mine }],
      imports: ['colorsys'],
    });
    expect(outcome.stdout.text).toBe('(0.0, 0.0, 0.0)\n');
  });

  test('an import that fails otherwise is the error of the run', async () => {
    const outcome = await runIn(engine, 'print("ran")', {
      imports: ['this_is.a', 'antigravity.no', 'lib2to3_x'],
    });
    expectOk(outcome);
  });
});

test.each([
  [
    'with rules',
    rulesOf({ blockedOperations: ['file'], blockedBuiltins: ['eval'], allowedImports: ['json'] }),
  ],
  ['without rules', undefined],
])('%s, code may print its variables', async (_, rules) => {
  const code = 'mine = 1\nprint(vars())\nprint(globals() == vars() == locals())';
  const outcome = await runIn(engine, code, rules && { rules });
  expectOk(outcome);
  expect(outcome.stdout.text).toMatch(
    /'__builtins__': <module 'builtins' \(built-in\)>.*'mine': 1\}\nTrue\n$/,
  );
});

describe('the summary of the code', () => {
  test('is told where it is asked for, and not otherwise', async () => {
    const code = 'import json\ndef f(): pass\nopen("x.csv")';
    const asked = await runIn(engine, code, { summarize: true });
    expect(asked.summary).toMatchObject({ imports: ['json'], reads: ['x.csv'], functions: ['f'], lines: 3 });
    expect((await runIn(engine, code)).summary).toBeNull();
  });

  test('is told of code that was refused, that failed, and that was killed', async () => {
    const refused = await runIn(engine, 'import os', { summarize: true, rules: NO_OS });
    expect([refused.verdict.kind, refused.summary?.imports]).toEqual(['denied', ['os']]);
    const broken = await runIn(engine, 'x = = 1', { summarize: true });
    expect(broken.summary?.text).toContain('not Python');
    const killed = await runIn(engine, 'import os\nos.kill(os.getpid(), 9)', { summarize: true });
    expect([killed.verdict.kind, killed.summary?.imports]).toEqual(['killed', ['os']]);
  });

  test("is the worker's own, whatever the code says", async () => {
    const code =
      FIND_CHANNEL +
      py`
      import json, os
      def say(kind, data):
          body = json.dumps(data).encode()
          os.write(REPORT, len(body).to_bytes(4, "big") + kind + body)
      fake = {"imports": ["nothing"], "reads": [], "writes": [], "plots": False, "dataFrames": False, "functions": [],
              "lines": 1, "text": "harmless"}
      for _ in range(3):
          say(b"S", fake)
    `;
    const asked = await runIn(engine, code, { summarize: true });
    expectOk(asked);
    expect(asked.summary).toMatchObject({ imports: ['os', 'json'], functions: ['say'] });
    expect((await runIn(engine, code)).summary).toBeNull();
  });

  test('is bounded, however long the names in the code are', async () => {
    const long = 'x'.repeat(600_000);
    const { summary, verdict } = await runIn(engine, `def ${long}(): pass\nimport ${long}`, {
      summarize: true,
      rules: rulesOf({ allowedImports: [] }),
    });
    expect(verdict.kind).toBe('denied');
    expect(JSON.stringify([summary, verdict]).length).toBeLessThan(10_000);
  });
});

describe('examining code', () => {
  test('tells violations and summary without running it', async () => {
    const job = jobOf('import os\nprint("ran")', { rules: NO_OS });
    const { violations, summary, exception } = await engine.examine(job);
    expect(violations).toMatchObject([{ line: 1, column: 1, rule: 'import', what: 'os' }]);
    expect(summary?.imports).toEqual(['os']);
    expect(exception).toBeUndefined();
  });

  test('without rules nothing is out of scope', async () => {
    expect((await engine.examine(jobOf('import os'))).violations).toEqual([]);
  });

  test('tells where the code is no Python', async () => {
    for (const code of ['x = = 1', 'return 1', 'def f():\nx']) {
      const { exception, violations } = await engine.examine(jobOf(code, { rules: NO_OS }));
      expect(exception?.type, code).toMatch(/^(SyntaxError|IndentationError)$/);
      expect(violations).toEqual([]);
    }
  });
});
