import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pungi } from './pungi.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'test-run-folder-'));
  // Runs are not root.
  chmodSync(folder, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true }));

const make = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const run = (args: string[], env: Record<string, string> = {}) =>
  pungi(['run', ...args], { cwd: folder, env: { HOME: '/nowhere', ...env } });
const well = (stdout: string) => ({ status: 0, stdout, stderr: '' });
const ALONE = { status: 1, stdout: '', stderr: expect.stringContaining('pass it with --file') };

describe('a script of a person', () => {
  test('imports modules and packages next to it, and reads files there', async () => {
    make(
      'app/main.py',
      'import helper\nfrom package import part\nfrom pathlib import Path\nprint(helper.NAME, part.NAME, Path(__file__).parent.joinpath("prices.csv").read_text())',
    );
    make('app/helper.py', 'import second\nNAME = second.NAME');
    make('app/second.py', 'NAME = "second"');
    make('app/package/__init__.py', '');
    make('app/package/part.py', 'NAME = "part"');
    make('app/prices.csv', '1,2');
    expect(await run(['app/main.py'])).toEqual(well('second part 1,2\n'));
    symlinkSync('app/main.py', join(folder, 'linked.py'));
    expect(await run(['linked.py'])).toEqual(well('second part 1,2\n'));
  });
  test('has its own folder first on sys.path, and works in a folder of its own', async () => {
    make(
      'where.py',
      'import os, sys\nprint(sys.path[0] == os.path.dirname(__file__), os.listdir(), sys.argv)',
    );
    expect(await run(['where.py', 'x'])).toEqual(well("True [] ['where.py', 'x']\n"));
  });
  test('can change nothing there, and leave it by no path', async () => {
    make('secret.txt', 'SECRET');
    make('app/.env', 'SECRET');
    make(
      'app/main.py',
      `
import os
from pathlib import Path
here = Path(__file__).parent
for attempt in (lambda: (here / "new").touch(), lambda: (here / "main.py").write_text(""), lambda: os.remove(here / "main.py")):
    try:
        attempt()
        print("changed")
    except OSError:
        pass
for path in here / ".env", here.parent / "secret.txt", "${folder}/secret.txt", here / "out":
    try:
        print(open(path).read(), end="")
    except OSError:
        pass
print("held")`,
    );
    symlinkSync('../secret.txt', join(folder, 'app/out'));
    expect(await run(['app/main.py'])).toEqual(well('held\n'));
  });
  test('that asks for nothing there sees nothing, and has all that other code has', async () => {
    make('other.py', '');
    make(
      'alone.py',
      'import fcntl, glob, os\nfcntl.flock(open("lock", "w"), fcntl.LOCK_EX); os.remove("lock")\nprint(glob.glob("/run/data/.*"))',
    );
    expect(await run(['alone.py'])).toEqual(well('[]\n'));
  });
  test('in a home folder, above one, or in a hidden folder runs alone', async () => {
    const [home, hidden] = [join(folder, 'home'), join(folder, 'home/.config')];
    for (const place of ['home', 'home/.config', 'home/.config/below', '.']) {
      make(`${place}/uses.py`, 'import beside');
      make(`${place}/beside.py`, 'print("seen")');
    }
    for (const place of [home, folder, hidden, join(hidden, 'below')])
      expect(await run([join(place, 'uses.py')], { HOME: home })).toMatchObject(ALONE);
    make('home/project/uses.py', 'import beside');
    make('home/project/beside.py', 'print("seen")');
    expect(await run([join(home, 'project/uses.py')], { HOME: home })).toEqual(well('seen\n'));
  });
  test('under the rules of a profile runs alone', async () => {
    make('uses.py', 'import beside');
    make('beside.py', 'print("seen")');
    make('profiles.yaml', 'profiles: {narrow: {blocked_imports: [socket]}}\n');
    const options = ['--profiles-file', 'profiles.yaml', '--profile', 'narrow'];
    expect(await run([...options, 'uses.py'])).toMatchObject({ ...ALONE, stdout: '' });
  });
});

describe('pungi run --data', () => {
  test('shows folders to the script, which can read them and nothing more', async () => {
    make('sales/2026.csv', '7');
    make('more/sales/2027.csv', '8');
    const code = `
import os
print(open("data/sales/2026.csv").read(), open("data/sales-2/2027.csv").read())
try:
    open("data/sales/2026.csv", "w")
except OSError:
    print("held")`;
    expect(await run(['--data', 'sales', '--data', 'more/sales', '-c', code])).toEqual(well('7 8\nheld\n'));
  });
  test.each([
    ['nowhere', 'there is no such folder.'],
    ['file.txt', 'there is no such folder.'],
    ['/', 'this is the whole machine; name a folder below it.'],
  ])('%s is one sentence', async (given, problem) => {
    make('file.txt', '');
    const { status, stdout, stderr } = await run(['--data', given, '-c', '1']);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toBe(`pungi: --data ${given}: ${problem}\n`);
  });
});
