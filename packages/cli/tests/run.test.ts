import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RUNS_ALL } from '../../../tests/support/long-tests.js';
import { Outcome } from '../../core/src/contract/outcome.js';
import { pungi } from './pungi.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'test-run-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const fileWith = (name: string, content: string | Buffer): string => {
  writeFileSync(join(folder, name), content);
  return name;
};
const run = (args: string[], input = '') => pungi(['run', ...args], { cwd: folder, input });
const well = (stdout: string, stderr = '') => ({ status: 0, stdout, stderr });

describe('what is run', () => {
  test('a file of the person’s own, whatever the roots are', async () => {
    fileWith('hello.py', 'print("hello", __name__)');
    expect(await run(['hello.py'])).toEqual(well('hello __main__\n'));
  });
  test('code, with -c', async () => expect(await run(['-c', 'print("hi")'])).toEqual(well('hi\n')));
  test('standard input, with -', async () => expect(await run(['-'], 'print("in")')).toEqual(well('in\n')));
  test('a file that begins with a byte order mark', async () => {
    fileWith('bom.py', '\uFEFFprint("ok")');
    expect(await run(['bom.py'])).toEqual(well('ok\n'));
  });
  test.each([
    ['-c', ['-c', 'open("table.csv")'], undefined],
    ['-', ['-'], 'open("table.csv")'],
  ])('without the files of the current folder for %s, as a hint says', async (_, args, stdin) => {
    fileWith('table.csv', 'a,b');
    expect((await run(args, stdin)).stderr).toContain(
      'There is a file "table.csv", but a run sees only the files passed to it: pass it with --file table.csv.',
    );
  });
  test('without the files beside it in a home folder, as a failed import says', async () => {
    fileWith('uses.py', 'import requests');
    fileWith('requests.py', 'x = 1');
    const { status, stderr } = await pungi(['run', 'uses.py'], { cwd: folder, env: { HOME: folder } });
    expect(status).toBe(1);
    expect(stderr).toContain('"requests.py" lies next to the script');
    expect(stderr).toContain('pass it with --file requests.py');
    expect(await run(['--file', 'requests.py', 'uses.py'])).toEqual(well(''));
  });
  test('with more than the usual limits, up to the ceilings, and notes say what is lowered', async () => {
    const limits = ['--timeout', '900000', '--memory', '600', '--disk', '100', '--processes', '100'];
    const code = 'open("a", "wb").write(bytes(80 << 20))';
    const { status, stdout, stderr } = await run([...limits, '-c', code]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${80 << 20}\n` });
    expect(stderr).toMatch(
      /^pungi: timeoutMs was lowered from 900000 to 300000, the server's MAX_REQUEST_TIMEOUT_MS.\npungi: the file a was left;/,
    );
  });
  test.each([
    [
      ['--json', 'a b', '', '-c', 'x', '--help'],
      ['--json', 'a b', '', '-c', 'x', '--help'],
    ],
    [
      ['x', '--', '--json'],
      ['x', '--', '--json'],
    ],
    [
      ['--', '--env', 'ml'],
      ['--env', 'ml'],
    ],
    [
      ['--', '--', 'x'],
      ['--', 'x'],
    ],
  ])('with all arguments after it: %j are %j', async (args, seen) => {
    const code = 'import sys, json; print(json.dumps(sys.argv[1:]))';
    fileWith('args.py', code);
    const shown = `${JSON.stringify(seen).replaceAll(',', ', ')}\n`;
    const forms = [['args.py'], [`-c${code}`], ['-c', code], ['--code', code], ['--stdin', '', '-c', code]];
    for (const form of RUNS_ALL ? forms : forms.slice(0, 2))
      expect(await run([...form, ...args])).toEqual(well(shown));
    expect(await run(['-', ...args], code)).toEqual(well(shown));
  });
  test('with a note, if an option came after code that can read no arguments', async () => {
    const note = 'pungi: --json came after the code, as its argument; options come before -c\n';
    expect(await run(['-c', '6 * 7', '--json'])).toEqual(well('42\n', note));
    expect(await run(['-c', '6 * 7', '--verbose'])).toEqual(well('42\n'));
    expect(await run(['-c', 'import sys; 1', '--json'])).toEqual(well('1\n'));
  });
  test('with files in its work folder, text or binary', async () => {
    fileWith('numbers.csv', '1\n2\n');
    fileWith('raw.bin', Buffer.from([0xff, 0x00, 0xfe]));
    const code = 'print(open("data/n.csv").read().split(), open("raw.bin", "rb").read())';
    const args = ['--file', 'data/n.csv=numbers.csv', '--file', 'raw.bin', '-c', code];
    expect(await run(args)).toEqual(well("['1', '2'] b'\\xff\\x00\\xfe'\n"));
  });
});

describe('its standard input', () => {
  const echo = 'import sys; print(repr(sys.stdin.read()))';

  test('is what is piped in', async () => expect(await run(['-c', echo], 'a\nb')).toEqual(well("'a\\nb'\n")));
  test('is the text of --stdin, before what is piped in', async () => {
    expect(await run(['--stdin', 'given', '-c', echo], 'piped')).toEqual(well("'given'\n"));
  });
  test('is the file of --stdin @file', async () => {
    fileWith('in.txt', 'from a file');
    expect(await run(['--stdin', '@in.txt', '-c', echo])).toEqual(well("'from a file'\n"));
    expect(await run(['--stdin', '@@in.txt', '-c', echo])).toEqual(well("'@in.txt'\n"));
  });
  test('is empty, and ends, for code that came from standard input', async () => {
    expect(await run(['-'], echo)).toEqual(well("''\n"));
  });
});

describe('what is shown', () => {
  test('stdout and stderr on their own streams', async () => {
    const code = 'import sys; print("out"); print("err", file=sys.stderr)';
    expect(await run(['-c', code])).toEqual(well('out\n', 'err\n'));
  });
  test('the value of a script’s last expression only with --json', async () => {
    fileWith(
      'value.py',
      'class Shown:\n    def __repr__(self):\n        print("described")\n        return "V"\nShown()',
    );
    expect(await run(['value.py'])).toEqual(well(''));
    expect(await run(['-'], '6 * 7')).toEqual(well(''));
    fileWith('shown.py', 'class Shown:\n    def _repr_html_(self):\n        return "<b>"\nShown()');
    expect(await run(['--out', 'out', 'shown.py'])).toEqual(well(''));
    const { stdout } = await run(['--json', '-'], '6 * 7');
    expect(Outcome.parse(JSON.parse(stdout)).value).toMatchObject({ json: 42 });
  });
  test('the value of the last expression of -c, as a notebook shows it', async () => {
    expect(await run(['-c', 'print("x"); {"a": [1, 2]}'])).toEqual(well("x\n{'a': [1, 2]}\n"));
    expect(await run(['-c', 'None'])).toEqual(well(''));
  });
  test('output to the byte: no end of line is added, none is lost, long lines stay whole', async () => {
    expect(await run(['-c', 'print("no end", end="")'])).toEqual(well('no end'));
    expect(await run(['-c', 'print("\\n\\na\\n")'])).toEqual(well('\n\na\n\n'));
    const { stdout } = await run(['-c', 'for i in range(3): print(i, "é" * 200_000)']);
    expect(stdout === [0, 1, 2].map((i) => `${i} ${'é'.repeat(200_000)}\n`).join('')).toBe(true);
  });
  test('much output, all of it and in order', async () => {
    const { stdout } = await run(['-c', 'for i in range(200_000): print(i)']);
    expect(stdout === Array.from({ length: 200_000 }, (_, i) => `${i}\n`).join('')).toBe(true);
  });
  test('a traceback with the name of the file and its line, then one sentence', async () => {
    fileWith('broken.py', 'def f():\n    return 1 / 0\nf()\n');
    const { status, stdout, stderr } = await run(['broken.py']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^Traceback \(most recent call last\):\n {2}File ".*broken\.py", line 3/);
    expect(stderr).toContain('return 1 / 0');
    expect(stderr).toMatch(/\npungi: .*ZeroDivisionError.*\n$/);
  });
  test('a syntax error with its line', async () => {
    fileWith('typo.py', 'x = 1\nprint(x\n');
    const { status, stderr } = await run(['typo.py']);
    expect(status).toBe(1);
    expect(stderr).toContain('SyntaxError');
    expect(stderr).toContain('line 2');
  });
  test('what to do about a missing module', async () => {
    const { status, stderr } = await run(['-c', 'import no_such_module_here']);
    expect(status).toBe(1);
    expect(stderr).toMatch(/pungi: .*no_such_module_here.* install/);
  });
});

describe('--json', () => {
  test('prints the outcome and nothing else', async () => {
    const { status, stdout, stderr } = await run(['--json', '-c', 'print("x"); 41 + 1']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const outcome = Outcome.parse(JSON.parse(stdout));
    expect(outcome).toMatchObject({ verdict: { kind: 'ok' }, stdout: { text: 'x\n' }, value: { json: 42 } });
  });
  test('holds failures as well, with the same status as without it', async () => {
    const { status, stdout, stderr } = await run(['--json', '-c', 'raise KeyError("k")']);
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    expect(Outcome.parse(JSON.parse(stdout)).verdict).toMatchObject({
      kind: 'python-error',
      exception: { type: 'KeyError', line: 1 },
    });
  });
});

describe('what the script shows', () => {
  const PNG =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const SHOWS = `print("before")\ndisplay({"image/png": "${PNG}"}, raw=True)\ndisplay({"text/html": "<b>", "text/plain": "bold"}, raw=True)`;

  test('is saved in the folder of --out, and its paths are reported', async () => {
    const saved = 'pungi: saved shown/figure-1.png\npungi: saved shown/display-2.html\n';
    expect(await run(['--out', 'shown', '-c', SHOWS])).toEqual(well('before\nbold\n', saved));
    expect(readFileSync(join(folder, 'shown/figure-1.png')).toString('base64')).toBe(PNG);
    expect(readFileSync(join(folder, 'shown/display-2.html'), 'utf8')).toBe('<b>');
  });
  test('without --out, pictures are mentioned', async () => {
    const mention = 'pungi: 1 picture was shown; --out DIR saves what a run shows and leaves as files\n';
    expect(await run(['-c', SHOWS])).toEqual(well('before\nbold\n', mention));
  });
  test('with --json is in the outcome', async () => {
    const { stdout, stderr } = await run(['--json', '-c', SHOWS]);
    expect(Outcome.parse(JSON.parse(stdout)).displays).toHaveLength(2);
    expect(stderr).toBe('');
  });
  test('a folder that cannot be created stops the run before it starts', async () => {
    fileWith('taken', '');
    const { status, stdout, stderr } = await run(['--out', 'taken/below', '-c', 'print(1)']);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('The folder of --out cannot be created');
  });
});
