import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { expectOk, printed, sharedPungi, temporaryFolder, verdictOf } from './pungi.js';

const scripts = temporaryFolder();
const pungi = sharedPungi({ ALLOWED_ENV: 'GREETING,TZ', SCRIPT_ROOTS: scripts });
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('code', () => {
  test('is run, and the outcome says what it was and how it was isolated', async () => {
    const code = 'print("hello")';
    const outcome = await pungi.run({ code });
    expectOk(outcome);
    expect(outcome.stdout).toEqual({ text: 'hello\n', bytes: 6, truncated: false });
    expect(outcome.stderr).toEqual({ text: '', bytes: 0, truncated: false });
    expect(outcome.codeSha256).toBe(sha256(code));
    expect(outcome.isolation.tier).toBe((await pungi.state()).tier);
    expect(outcome.isolation.features).toContain('seccomp');
    expect(outcome.runId).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('sees itself as the main module', async () => {
    const code = py`
      import sys
      class Local: pass
      print(__name__, sys.modules["__main__"].Local is Local, Local.__module__, __file__)
    `;
    expect(await printed(pungi, { code })).toBe('__main__ True __main__ /work/main.py\n');
  });

  test('runs under the name that the request gives it', async () => {
    const code = 'import sys\nprint(__file__, sys.argv)\n1 / 0';
    const outcome = await pungi.run({ code, filename: 'my report.py' });
    expect(outcome.stdout.text).toBe("/work/my report.py ['my report.py']\n");
    const { line, text, traceback } = verdictOf(outcome, 'python-error').exception;
    expect({ line, text }).toEqual({ line: 3, text: '1 / 0' });
    expect(traceback).toContain('File "my report.py", line 3');
  });

  test('may be empty', async () => {
    const outcome = await pungi.run({ code: '' });
    expectOk(outcome);
    expect(outcome.codeSha256).toBe(sha256(''));
  });

  test('keeps every kind of character', async () => {
    expect(await printed(pungi, { code: 'print("żółć 🐍 \\x00|", "\t")' })).toBe('żółć 🐍 \x00| \t\n');
  });

  test('can pickle its own classes', async () => {
    const code = py`
      import pickle
      class Point:
          def __init__(self, x): self.x = x
      print(pickle.loads(pickle.dumps(Point(7))).x)
    `;
    expect(await printed(pungi, { code })).toBe('7\n');
  });

  test('writes stdout and stderr apart', async () => {
    const { stdout, stderr } = await pungi.run({
      code: 'import sys; print("out"); print("err", file=sys.stderr)',
    });
    expect([stdout.text, stderr.text]).toEqual(['out\n', 'err\n']);
  });

  test('need not end its last line', async () => {
    expect(await printed(pungi, { code: 'print("no newline", end="")' })).toBe('no newline');
  });

  test('may close its own stdout, as it may under python', async () => {
    expect(await printed(pungi, { code: 'import sys\nprint("said")\nsys.stdout.close()' })).toBe('said\n');
  });

  test('loses nothing that it wrote before it replaced its stdout', async () => {
    const code = py`
      import io, sys
      sys.stdout.write("half a line")
      sys.stdout = io.StringIO()
    `;
    expect(await printed(pungi, { code })).toBe('half a line');
  });

  test('waits for its threads and runs what it left for the exit', async () => {
    const code = py`
      import atexit, threading
      gate = threading.Event()
      atexit.register(print, "at exit")
      threading.Thread(target=lambda: (gate.wait(), print("thread"))).start()
      print("main")
      threading.Timer(0.01, gate.set).start()
    `;
    expect(await printed(pungi, { code })).toBe('main\nthread\nat exit\n');
  });
});

describe('a file', () => {
  test('below a root is run under its own name', async () => {
    const code = 'import sys\nprint(__file__, sys.argv)\n';
    mkdirSync(join(scripts, 'nested'));
    writeFileSync(join(scripts, 'nested', 'report.py'), code);
    const relative = await pungi.run({ file: 'nested/report.py', argv: ['--fast'] });
    expectOk(relative);
    // Its own folder is shown to it if the sandbox's user can read it.
    expect(relative.stdout.text).toMatch(
      /^(\/work|\/run\/data\/\.scripts-1\/nested)\/report\.py \['report\.py', '--fast'\]\n$/,
    );
    expect(relative.codeSha256).toBe(sha256(code));
    const absolute = await pungi.run({ file: join(scripts, 'nested/report.py') });
    expect(absolute.stdout.text).toBe(relative.stdout.text.replace(", '--fast'", ''));
  });

  test('outside the roots is refused', async () => {
    const { message, reason } = verdictOf(await pungi.run({ file: '/etc/hostname' }), 'denied');
    expect(message).toContain('/etc/hostname');
    expect(reason).toBe(message);
  });
});

describe('argv', () => {
  test('arrives as it was given', async () => {
    const argv = ['--name', 'with space', '', 'ünï', '$(id)', "'quoted'", '-c', 'back\\slash'];
    const code = 'import json, sys; print(json.dumps(sys.argv))';
    expect(JSON.parse(await printed(pungi, { code, argv }))).toEqual(['main.py', ...argv]);
  });
});

describe('stdin', () => {
  test('is the text that was given, and ends', async () => {
    const code = 'import sys; print(repr(sys.stdin.read())); print(repr(sys.stdin.read()))';
    expect(await printed(pungi, { code, stdin: 'one\ntwo ż' })).toBe("'one\\ntwo ż'\n''\n");
  });

  test('is empty when nothing was given', async () => {
    const { exception } = verdictOf(await pungi.run({ code: 'input()' }), 'python-error');
    expect(exception.type).toBe('EOFError');
  });

  test('inputData answers input() line by line, then ends', async () => {
    const code = py`
      print(input("name? "), input(), input())
      try:
          input()
      except EOFError:
          print("no more")
    `;
    expect(await printed(pungi, { code, inputData: ['Ada', '', 'ż'] })).toBe('name? Ada  ż\nno more\n');
  });

  test('of a megabyte arrives whole', async () => {
    const stdin = 'ż0123456789\n'.repeat(1024 * 80);
    const code = py`
      import hashlib, sys
      data = sys.stdin.buffer.read()
      print(len(data), hashlib.sha256(data).hexdigest())
    `;
    expect(await printed(pungi, { code, stdin })).toBe(`${Buffer.byteLength(stdin)} ${sha256(stdin)}\n`);
  });

  test.each([65_535, 65_536, 65_537])('of %i bytes arrives whole', async (size) => {
    const code = 'import sys; print(len(sys.stdin.read()))';
    expect(await printed(pungi, { code, stdin: 'x'.repeat(size) })).toBe(`${size}\n`);
  });

  test('is there for a subprocess too', async () => {
    const code = 'import subprocess; print(subprocess.run(["cat"], capture_output=True).stdout)';
    expect(await printed(pungi, { code, stdin: 'for the child' })).toBe("b'for the child'\n");
  });

  test('more of it than a run can hold is refused as invalid', async () => {
    const { issues } = verdictOf(
      await pungi.run({ code: 'print(1)', stdin: 'x'.repeat(70 * 1024 * 1024) }),
      'invalid',
    );
    expect(issues.join()).toContain('stdin');
  });
});

describe('files', () => {
  test('text, binary and nested ones are placed in the work folder', async () => {
    const files = [
      { path: 'sales.csv', text: 'a,b\n1,ż\n' },
      { path: 'deep/er/picture.bin', base64: Buffer.from([0, 255, 10, 128]).toString('base64') },
      { path: 'empty', text: '' },
    ];
    const code = py`
      print(repr(open("sales.csv", encoding="utf-8").read()))
      print(open("deep/er/picture.bin", "rb").read())
      print(repr(open("empty").read()))
    `;
    expect(await printed(pungi, { code, files })).toBe("'a,b\\n1,ż\\n'\nb'\\x00\\xff\\n\\x80'\n''\n");
  });

  test('a module among them can be imported, a package too', async () => {
    const files = [
      { path: 'helper.py', text: 'def double(x):\n    return 2 * x\n' },
      { path: 'kit/__init__.py', text: '' },
      { path: 'kit/tool.py', text: 'NAME = "tool"\n' },
    ];
    const code = 'import helper\nfrom kit import tool\nprint(helper.double(21), tool.NAME)';
    expect(await printed(pungi, { code, files })).toBe('42 tool\n');
  });

  test('may be changed and removed by the run', async () => {
    const code = py`
      import os
      open("given.txt", "a").write(" and more")
      print(open("given.txt").read())
      os.remove("given.txt")
      print(os.listdir())
    `;
    expect(await printed(pungi, { code, files: [{ path: 'given.txt', text: 'text' }] })).toBe(
      "text and more\n['main.py']\n",
    );
  });

  test('one that would lie below another one is refused as invalid', async () => {
    const files = [
      { path: 'a', text: 'a file' },
      { path: 'a/b', text: 'below a file' },
    ];
    expect(verdictOf(await pungi.run({ code: 'print(1)', files }), 'invalid').message).toContain('"a/b"');
    verdictOf(await pungi.run({ code: 'print(1)', files: files.toReversed() }), 'invalid');
  });

  test('two in the same place are refused as invalid', async () => {
    const files = [
      { path: 'a/b', text: 'one' },
      { path: 'a/b', text: 'other' },
    ];
    expect(verdictOf(await pungi.run({ code: 'print(1)', files }), 'invalid').message).toContain('same path');
  });

  test('more of them than the disk limit holds are refused as invalid', async () => {
    const files = [{ path: 'large', text: 'x'.repeat(2 * 1024 * 1024) }];
    const outcome = await pungi.run({ code: 'print(1)', files, limits: { diskMb: 1 } });
    expect(verdictOf(outcome, 'invalid').message).toContain('1 MB');
    expect(outcome.stdout.text).toBe('');
    expectOk(await pungi.run({ code: 'print(1)', files, limits: { diskMb: 3 } }));
  });
});

describe('env', () => {
  test('allowed variables arrive', async () => {
    const code = 'import os; print(os.environ["GREETING"])';
    expect(await printed(pungi, { code, env: { GREETING: 'hi ż = "1"' } })).toBe('hi ż = "1"\n');
  });

  test('other variables are refused by name', async () => {
    const outcome = await pungi.run({ code: 'print(1)', env: { GREETING: 'hi', LD_PRELOAD: '/x.so' } });
    const { reason } = verdictOf(outcome, 'denied');
    expect(reason).toContain('LD_PRELOAD');
    expect(reason).toContain('GREETING');
    expect(outcome.stdout.text).toBe('');
  });

  test("nothing of the server's own environment crosses", async () => {
    process.env['PUNGI_TEST_SECRET'] = 'secret';
    try {
      const code = 'import os, json; print(json.dumps(dict(os.environ)))';
      const environment = JSON.parse(await printed(pungi, { code }));
      expect(Object.values(environment)).not.toContain('secret');
      expect(environment['HOME']).toBe('/work');
    } finally {
      delete process.env['PUNGI_TEST_SECRET'];
    }
  });

  test('a time zone is in force', async () => {
    const code = 'import time; print(time.strftime("%H:%M", time.localtime(0)), time.timezone)';
    expect(await printed(pungi, { code, env: { TZ: 'JST-9' } })).toBe('09:00 -32400\n');
  });

  test('one run does not leave its variables to the next', async () => {
    const code = 'import os; print(os.environ.get("GREETING"))';
    await pungi.run({ code, env: { GREETING: 'mine' } });
    expect(await printed(pungi, { code })).toBe('None\n');
  });
});

const nested = (depth: number) => JSON.parse(`${'["]{",'.repeat(depth - 1)}[]${']'.repeat(depth - 1)}`);

describe('context', () => {
  test('may be nested as deep as Python reads it', async () => {
    expect(await printed(pungi, { code: 'print(type(context).__name__)', context: nested(500) })).toBe(
      'list\n',
    );
  });

  const shown = (context: RunRequestContext) => printed(pungi, { code: 'print(repr(context))', context });
  type RunRequestContext = NonNullable<Parameters<typeof pungi.run>[0]['context']> | null;

  test.each<[string, RunRequestContext, string]>([
    ['null', null, 'None\n'],
    ['the text "null"', 'null', "'null'\n"],
    ['false', false, 'False\n'],
    ['zero', 0, '0\n'],
    ['an empty list', [], '[]\n'],
    ['unicode', 'ż🐍\n"\'', `'ż🐍\\n"\\''\n`],
    ['nested data', { a: [1, 2.5, { b: null }], ż: true }, "{'a': [1, 2.5, {'b': None}], 'ż': True}\n"],
    ['code', '__import__("os")', `'__import__("os")'\n`],
  ])('%s arrives as the same value', async (_, context, repr) => {
    expect(await shown(context)).toBe(repr);
  });

  test('without one, the name does not exist', async () => {
    const { exception } = verdictOf(await pungi.run({ code: 'context' }), 'python-error');
    expect(exception.type).toBe('NameError');
  });

  test('half a character arrives as Python writes it', async () => {
    const code = 'print(ascii(context))';
    expect(await printed(pungi, { code, context: { '\ud800': '\udfff' } })).toBe("{'\\ud800': '\\udfff'}\n");
  });

  test('a key that JavaScript finds special arrives too', async () => {
    expect(await shown(JSON.parse('{"__proto__": 1, "constructor": 2}'))).toBe(
      "{'__proto__': 1, 'constructor': 2}\n",
    );
  });
});

describe('the work folder', () => {
  test('is the current one, empty but for the script, writable and gone for the next run', async () => {
    const code = py`
      import os, tempfile
      print(os.listdir("."), os.listdir(tempfile.gettempdir()))
      open("mine.txt", "w").write("x")
      open(os.path.join(tempfile.gettempdir(), "mine.txt"), "w").write("x")
      os.makedirs("a/b")
      print(sorted(os.listdir(".")), os.getcwd() == os.environ["HOME"])
    `;
    for (const _ of ['first', 'second']) {
      expect(await printed(pungi, { code })).toBe("['main.py'] []\n['a', 'main.py', 'mine.txt'] True\n");
    }
  });
});

const CIRCLE: unknown[] = [];
CIRCLE.push(CIRCLE);

describe('a request that is not valid', () => {
  test.each<[string, unknown, string]>([
    ['neither code nor file', {}, 'either code or file'],
    ['both of them', { code: '1', file: 'a.py' }, 'either code or file'],
    ['stdin and inputData', { code: '1', stdin: '', inputData: [] }, 'either stdin or inputData'],
    ['an unknown field', { code: '1', sudo: true }, 'sudo'],
    ['a path out of the work folder', { code: '1', files: [{ path: '../x', text: '' }] }, 'files.0.path'],
    ['an absolute path', { code: '1', files: [{ path: '/etc/x', text: '' }] }, 'files.0.path'],
    ['a file without content', { code: '1', files: [{ path: 'x' }] }, 'text, base64 and upload'],
    ['base64 that is none', { code: '1', files: [{ path: 'x', base64: '%' }] }, 'base64'],
    ['a NUL in argv', { code: '1', argv: ['a\0b'] }, 'argv.0'],
    ['half a character in argv', { code: '1', argv: ['\ud800'] }, 'argv.0: must be well-formed text'],
    [
      'half a character in a path',
      { code: '1', files: [{ path: 'a\udfff', text: '' }] },
      'files.0.path: must be well-formed text',
    ],
    [
      'half a character in a variable',
      { code: '1', env: { TZ: '\ud800' } },
      'env.TZ: must be well-formed text',
    ],
    [
      'half a character in the name',
      { code: '1', filename: '\ud800.py' },
      'filename: must be well-formed text',
    ],
    ['half a character in a file', { file: '\ud800.py' }, 'file: must be well-formed text'],
    ['a profile as long as a book', { code: '1', profile: 'x'.repeat(8_000_000) }, 'profile: '],
    ['an environment as long as a book', { code: '1', venvName: 'x'.repeat(8_000_000) }, 'venvName: '],
    ['a file as long as a book', { file: 'x'.repeat(8_000_000) }, 'file: '],
    ['a variable that is no name', { code: '1', env: { 'A=B': '1' } }, 'A=B'],
    ['a limit of nothing', { code: '1', limits: { timeoutMs: 0 } }, 'limits.timeoutMs'],
    ['a limit of another name', { code: '1', limits: { gpu: 1 } }, 'gpu'],
    ['stdin that is too large', { code: '1', stdin: 'x'.repeat(6 * 1024 * 1024 + 1) }, 'stdin: is larger'],
    ['too many lines', { code: '1', inputData: Array(100_001).fill('') }, 'inputData'],
    [
      'lines that are too large',
      { code: '1', inputData: ['x'.repeat(6 * 1024 * 1024 + 1)] },
      'inputData: is larger',
    ],
    [
      'a context that is too large',
      { code: '1', context: 'x'.repeat(6 * 1024 * 1024) },
      'context: must be JSON',
    ],
    ['a context that is nested too deep', { code: '1', context: nested(501) }, 'nested at most 500 deep'],
    ['a context that is no JSON', { code: '1', context: () => 1 }, 'context: must be JSON'],
    ['a context without an end', { code: '1', context: CIRCLE }, 'context: must be JSON'],
    ['argv that is too large', { code: '1', argv: ['x'.repeat(64 * 1024 + 1)] }, 'argv: is larger'],
    ['too many words', { code: '1', argv: Array(1025).fill('') }, 'argv'],
    ['a file name with a folder', { code: '1', filename: 'a/b.py' }, 'filename: must be a plain file name'],
    ['code that is too large', { code: `#${'x'.repeat(2 * 1024 * 1024)}` }, 'code is larger than'],
  ])('%s is said to be so', async (_, request, said) => {
    const outcome = await pungi.run(request as never);
    const { code, message, issues } = verdictOf(outcome, 'invalid');
    expect(code).toBe('INVALID_INPUT');
    expect(message).toContain(said);
    expect(issues.join('; ')).toContain(said);
    expect(outcome.isolation).toEqual({ tier: null, features: [] });
  });
});
