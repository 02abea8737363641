import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { descendants, isAlive, type Setting, start } from './pungi.js';

const folder = mkdtempSync(join(tmpdir(), 'test-shell-terminal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SHOW_PNG = `display({"image/png": "${PNG}"}, raw=True)`;
const onLinux = process.platform === 'linux';
let homes = 0;

/** A person at a terminal. */
function sitDown(args: string[] = [], setting: Setting = {}) {
  const home = join(folder, `home-${++homes}`);
  const env = { XDG_STATE_HOME: home, NO_COLOR: '1', ...setting.env };
  const { child, ended } = start(['shell', ...args], { ...setting, env, terminal: true });
  let all = '';
  let seen = 0;
  child.stdout.on('data', (text: string) => {
    all += text;
  });
  const screen = () => stripVTControlCharacters(all).replaceAll('\r\n', '\n');
  /** Waits for the text after what was awaited before. */
  const see = async (text: string) => {
    const found = () => screen().indexOf(text, seen) + 1;
    await until(found, `the terminal shows ${JSON.stringify(text)}`).catch((error: Error) => {
      throw new Error(`${error.message}; it shows:\n${screen()}`);
    });
    seen = found() - 1 + text.length;
  };
  const type = (keys: string) => child.stdin.write(keys);
  return {
    home,
    child,
    see,
    type,
    /** Types a line at the prompt and waits for what it shows. */
    async enter(line: string, shown: string, prompt = '>>> ') {
      await see(prompt);
      type(`${line}\r`);
      await see(shown);
    },
    async leave() {
      type('\x04');
      const { status } = await ended;
      return { status, screen: screen(), sent: all };
    },
    ended,
  };
}

describe.runIf(onLinux)('at a terminal', () => {
  test('a function of several lines is defined and called; values are echoed, and _ is the last one', async () => {
    const { see, type, enter, leave } = sitDown();
    await see('Python 3.');
    await enter('def double(x):', '... ');
    type('    return x * 2\r');
    await see('... ');
    type('\r');
    await enter('double(21)', '\n42\n');
    await enter('_ + 1', '\n43\n');
    await enter('None', '\n');
    await enter('print("partial", end="")', '\npartial\n');
    await enter('1/0', 'ZeroDivisionError: division by zero');
    await see('>>> ');
    const { status, screen } = await leave();
    expect(status).toBe(0);
    expect(screen).toMatch(/^Pungi .*Ctrl-D leaves/);
    expect(screen).toContain('    1/0\n');
    expect(screen).not.toContain('None\nNone');
  });

  test('inputs are kept for the next shell, whole and in a private file', async () => {
    const first = sitDown();
    await first.see('>>> ');
    first.type('for each in "ab":\r');
    await first.see('... ');
    first.type('    print(each)\r');
    await first.see('... ');
    first.type('\r');
    await first.see('\nb\n');
    await first.see('>>> ');
    await first.leave();
    const file = join(first.home, 'pungi', 'shell-history');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toBe('"for each in \\"ab\\":\\n    print(each)"\n');
    const second = sitDown([], { env: { XDG_STATE_HOME: first.home } });
    await second.see('>>> ');
    second.type('\x1b[A');
    await second.see('print(each)');
    second.type('\r');
    await second.see('\na\nb\n');
    await second.see('>>> ');
    await second.leave();
  });

  test('Ctrl-R finds an earlier input by any part of it, and again the one before it', async () => {
    const { see, type, enter, leave } = sitDown();
    await enter('oldest = 20', '\n');
    await enter('older = 40', '\n');
    await enter('other = 60', '\n');
    await see('>>> ');
    type('= ');
    await see('= ');
    type('\x12\x12');
    await see('older = 40');
    type('\x12');
    await see('oldest = 20');
    type(' + 1\r');
    await enter('oldest', '\n21\n');
    await see('>>> ');
    type('nowhere');
    await see('nowhere');
    type('\x12');
    type('\x03');
    await see('>>> ');
    await leave();
  });

  test('Tab completes attributes of a variable, and indents', async () => {
    const { see, type, enter, leave } = sitDown();
    await enter('class Box: peculiar = 7', '... ');
    type('\r');
    await enter('box = Box()', '\n');
    await see('>>> ');
    type('box.pec');
    await see('box.pec');
    type('\t');
    await see('uliar');
    type('\r');
    await see('\n7\n');
    await enter('if True:', '... ');
    type('\t');
    await see('    ');
    type('"indented"\r');
    await see('... ');
    type('\r');
    await see("'indented'");
    await see('>>> ');
    await leave();
  });

  test('a hostile name does not reach the terminal', async () => {
    const { see, type, enter, leave } = sitDown();
    await enter('globals()["evil\\x1b]0;owned\\x07"] = globals()["evil_but_plain"] = 1', '\n');
    await enter('globals()["evil_too"] = 2', '\n');
    await see('>>> ');
    type('evi');
    await see('evi');
    type('\t');
    await see('l_');
    type('\t');
    type('\t');
    await see('evil_too');
    type('\x03');
    await see('KeyboardInterrupt');
    await see('>>> ');
    expect((await leave()).sent).not.toContain('\x1b]0;');
  });

  test('Ctrl-C interrupts the code and keeps the variables; at the prompt it clears the line', async () => {
    const { see, type, enter, leave } = sitDown();
    await enter('kept = 5', '\n');
    await enter('import time; print("be" + "gun", flush=True); time.sleep(1000)', 'begun');
    type('\x03');
    await see('KeyboardInterrupt');
    await enter('kept + 1', '\n6\n');
    await see('>>> ');
    type('kept + (');
    await see('kept + (');
    type('\x03');
    await see('KeyboardInterrupt');
    await enter('"next"', "'next'");
    await see('>>> ');
    expect((await leave()).status).toBe(0);
  });

  test('code that cannot be interrupted ends the session, and the shell says so', async () => {
    const { see, type, enter, leave } = sitDown();
    const loop =
      'signal.signal(signal.SIGINT, signal.SIG_IGN); print("be" + "gun", flush=True); time.sleep(1000)';
    await enter(`kept = 5; import signal, time; ${loop}`, 'begun');
    type('\x03');
    await see('could not be interrupted, so its session was ended: its variables and files are gone.');
    await enter('kept', "NameError: name 'kept' is not defined");
    await see('>>> ');
    await leave();
  });

  test('a session that ends says why, and the next input starts a new one', async () => {
    const { see, enter, leave } = sitDown(['--memory', '200']);
    await enter('kept = 1', '\n');
    await enter('import os; os._exit(3)', 'its process exited with status 3');
    await see('The next input starts a new session.');
    await enter('"kept" in globals()', 'False');
    await enter('x = [bytearray(1 << 24) for _ in range(100)]', 'This has ended the session');
    await enter('"a new one"', "'a new one'");
    await enter(':restart', 'A new session starts with the next input.');
    await enter('"x" in globals()', 'False');
    await enter(':nothing', 'There is no command :nothing');
    await see('>>> ');
    await leave();
  });

  test('pictures are saved and their path is printed; the terminal shows them where it can', async () => {
    const out = join(folder, 'pictures');
    const { see, enter, leave } = sitDown(['--out', out], { env: { TERM_PROGRAM: 'WezTerm' } });
    await enter(SHOW_PNG, `saved ${out}/figure-1.png`);
    await enter(SHOW_PNG, `saved ${out}/figure-2.png`);
    await see('>>> ');
    expect((await leave()).sent).toContain(
      `\x1b]1337;File=inline=1;size=70;preserveAspectRatio=1:${PNG}\x07`,
    );
    expect(readFileSync(join(out, 'figure-2.png')).toString('base64')).toBe(PNG);
  });

  test('pasted code is one input, whatever empty lines it has', async () => {
    const { see, type, leave } = sitDown();
    await see('>>> ');
    type('\x1b[200~def f():\r    a = 1\r\r    return a\r\rf() + 41\r\x1b[201~');
    await see('f() + 41');
    type('\r');
    await see('\n42\n');
    await see('>>> ');
    await leave();
  });

  test.each([
    ['exit()', 0],
    ['import sys; sys.exit(4)', 4],
  ])('%s leaves with status %i and leaves no process', async (code, status) => {
    const { see, type, child, ended } = sitDown();
    await see('>>> ');
    type('1\r');
    await see('>>> ');
    const below = descendants(child.pid!);
    type(`${code}\r`);
    expect((await ended).status).toBe(status);
    await expect.poll(() => below.filter(isAlive), { timeout: 20_000 }).toEqual([]);
  });

  test('an environment that does not exist is refused before the prompt', async () => {
    const { ended } = sitDown(['--env', 'nowhere']);
    const { status, stdout } = await ended;
    expect(status).toBe(66);
    expect(stdout).toContain('nowhere');
    expect(stdout).not.toContain('>>>');
  });
});
