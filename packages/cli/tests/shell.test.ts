import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { inlinePicture, pictureProtocol } from '../src/shell/pictures.js';
import { program, pungi } from './pungi.js';

const folder = mkdtempSync(join(tmpdir(), 'test-shell-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SHOW_PNG = `display({"image/png": "${PNG}"}, raw=True)`;

const shell = (input: string, args: string[] = []) => pungi(['shell', ...args], { input });

describe('piped input', () => {
  test('runs statement by statement in one session', async () => {
    const script = 'x = 6\n\ndef f():\n    a = x\n\n    return a * 7\n# a comment\nf()\n"""text"""\nNone\n';
    expect(await shell(script)).toEqual({ status: 0, stdout: "42\n'text'\n", stderr: '' });
  });

  test('goes on after a failure, and has its exit code', async () => {
    const { status, stdout, stderr } = await shell('x = 1\n1/0\nx\n');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '1\n' });
    expect(stderr).toMatch(/^Traceback [\s\S]*\n {4}1\/0\n[\s\S]*ZeroDivisionError: division by zero\n$/);
  });

  test('that is no Python runs nothing', async () => {
    const { status, stdout, stderr } = await shell('print(1)\nx = = 2\n');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('SyntaxError: invalid syntax');
  });

  test('ends with its session, and says so', async () => {
    const { status, stdout, stderr } = await shell('print(1)\nimport os; os._exit(5)\nprint(2)\n');
    expect({ status, stdout }).toEqual({ status: 5, stdout: '1\n' });
    expect(stderr).toBe(
      'pungi: The session has ended, because its process exited with status 5: its variables and files are gone. The rest of the input was not run.\n',
    );
  });

  test('that exits ends there', async () => {
    expect(await shell('exit(3)\nprint(2)\n')).toEqual({ status: 3, stdout: '', stderr: '' });
    expect(await shell('1/0\nexit()\n')).toMatchObject({ status: 0, stdout: '' });
  });

  test('has the files and limits of the command', async () => {
    const { stdout, stderr, status } = await shell(
      'open("data.txt").read()[:6]\nimport time\ntime.sleep(100)\n"still here"\n',
      ['--file', `data.txt=${import.meta.filename}`, '--timeout', '500'],
    );
    expect({ status, stdout }).toEqual({ status: 124, stdout: "'import'\n'still here'\n" });
    expect(stderr).toMatch(/^pungi: [^\n]+\n$/);
  });

  test('shows pictures in a folder of the system, and only then makes one', async () => {
    const TMPDIR = mkdtempSync(join(folder, 'tmp-'));
    const own = () => readdirSync(TMPDIR).filter((name) => name.startsWith('pungi-shell-'));
    await program(['shell'], { input: '1\n', env: { TMPDIR } });
    expect(own()).toEqual([]);
    const { stderr } = await program(['shell'], { input: `${SHOW_PNG}\n`, env: { TMPDIR } });
    const [path = ''] = /(?<=^pungi: saved ).*(?=\n$)/.exec(stderr) ?? [];
    expect(path).toMatch(/pungi-shell-\w+\/figure-1\.png$/);
    expect(existsSync(path)).toBe(true);
    expect(statSync(join(TMPDIR, own()[0]!)).mode & 0o777).toBe(0o700);
  });

  test('saves the files that it makes with --out, and not what is in its way', async () => {
    const out = join(folder, 'out');
    const script = `open("a.txt", "w").write("1")\n${SHOW_PNG}\nopen("a.txt", "w").write("22")\n${SHOW_PNG}`;
    const { stdout, stderr } = await shell(script, ['--out', out]);
    expect(stdout).toBe('1\n2\n');
    expect(stderr.replaceAll(out, 'OUT')).toBe(
      'pungi: saved OUT/a.txt\npungi: saved OUT/figure-1.png\npungi: replaced OUT/a.txt\npungi: saved OUT/figure-2.png\n',
    );
    expect(readFileSync(join(out, 'a.txt'), 'utf8')).toBe('22');
    expect((await shell(SHOW_PNG, ['--out', out])).stderr).toContain('figure-3.png');
  });

  test('saves all that is shown with --out, in its full size', async () => {
    const out = join(folder, 'shown');
    const script = `class Frame:\n    def _repr_html_(self): return "<b>1</b>"\n    def _repr_markdown_(self): return "1"\n    def __repr__(self): return "F"\n\nFrame()\n${SHOW_PNG}\ndisplay({"text/html": "<i>"}, raw=True)`;
    const { stdout, stderr } = await shell(script, ['--out', out]);
    expect(stdout).toBe('F\n');
    expect(stderr.match(/\/[\w.-]+$/gm)).toEqual([
      '/display-1.html',
      '/display-1.md',
      '/figure-2.png',
      '/display-3.html',
    ]);
    expect(readFileSync(join(out, 'display-3.html'), 'utf8')).toBe('<i>');
  });

  test('is refused where there are no sessions', async () => {
    const { status, stderr } = await pungi(['shell', '--profile', 'diego'], { input: '1\n' });
    expect(status).toBe(77);
    expect(stderr).toContain('it allows no sessions');
  });
});

describe('pictures in the terminal', () => {
  const picture = { data: { 'image/png': PNG }, at: { stdout: 0, stderr: 0 } };
  test.each([
    [{ TERM_PROGRAM: 'iTerm.app' }, 'iterm'],
    [{ LC_TERMINAL: 'iTerm2' }, 'iterm'],
    [{ TERM: 'xterm-kitty' }, 'kitty'],
    [{ TERM: 'xterm-ghostty' }, 'kitty'],
    [{ TERM: 'xterm-kitty', TMUX: '/tmp/tmux' }, undefined],
    [{ TERM: 'xterm-256color' }, undefined],
  ])('%j are shown with %s', (env, protocol) => expect(pictureProtocol(env)).toBe(protocol));

  test('are sent in parts that kitty accepts', () => {
    const large = { ...picture, data: { 'image/png': Buffer.alloc(5000, 7).toString('base64') } };
    const parts = inlinePicture(large, 'kitty').split('\x1b\\');
    expect(parts.map((part) => part.split(';')[0])).toEqual(['\x1b_Ga=T,f=100,q=2,m=1', '\x1b_Gm=0', '\n']);
    expect(parts[0]!.split(';')[1]).toHaveLength(4096);
    expect(inlinePicture(picture, undefined)).toBe('');
  });
});
