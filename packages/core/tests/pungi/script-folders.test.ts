import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  expectOk,
  printed,
  publicInterpreter,
  readableFolder,
  SANDBOXES,
  sharedPungi,
} from '../engine/pungi.js';

const PUNGI_PYTHON = await publicInterpreter();
const { folder, make } = readableFolder();
make('root/reports/main.py', 'import helper, tools.more\nprint(helper.NAME, tools.more.NAME, __name__)');
make('root/reports/helper.py', 'NAME = "helper"');
make('root/reports/tools/__init__.py', '');
make('root/reports/tools/more.py', 'NAME = "more"');
make('root/reports/prices.csv', '1,2\n');
make(
  'root/reports/read.py',
  'from pathlib import Path\nprint((Path(__file__).parent / "prices.csv").read_text(), end="")',
);
make(
  'root/reports/where.py',
  'import sys, os\nprint(sys.path[0] == os.path.dirname(__file__), os.listdir("."))',
);
make('root/reports/fails.py', 'import broken\nbroken.fail()');
make('root/reports/broken.py', 'def fail():\n    raise ValueError("here")');
make('root/reports/uses_given.py', 'import given\nprint(given.NAME)');
make('root/reports/shadows.py', 'import textwrap\nprint(textwrap.NAME)');
make('root/reports/textwrap.py', 'NAME = "own"');
make(
  'root/reports/writes.py',
  `
import os
from pathlib import Path
here = Path(__file__).parent
for attempt in (
    lambda: (here / "new.txt").write_text("x"), lambda: (here / "helper.py").write_text("x"), lambda: (here / "helper.py").unlink(),
    lambda: (here / "helper.py").rename(here / "other.py"), lambda: (here / "new").mkdir(), lambda: os.link(here / "helper.py", "mine.py"),
    lambda: (here / "out.txt").read_text(), lambda: (here.parent.parent / "secret.txt").read_text(),
    lambda: open("/proc/self/root${folder}/secret.txt").read(), lambda: open("${folder}/secret.txt").read(),
):
    try:
        print("done", attempt())
    except OSError:
        pass
print("held")
`,
);
make('secret.txt', 'not for runs');
symlinkSync('../../secret.txt', join(folder, 'root/reports/out.txt'));
symlinkSync('reports/main.py', join(folder, 'root/linked.py'));
make('profiles.yaml', 'profiles: {narrow: {blocked_imports: [socket]}, kept: {cache_ttl: 60}}\n');
const PROFILES_FILE = join(folder, 'profiles.yaml');
const SCRIPT_ROOTS = join(folder, 'root');

describe.each(SANDBOXES)('a file of the server as a script, in the %s tier', (PUNGI_TIER) => {
  const pungi = sharedPungi({ SCRIPT_ROOTS, PROFILES_FILE, PUNGI_TIER, PUNGI_PYTHON });

  test.each([
    ['imports modules and packages next to it', 'reports/main.py', 'helper more __main__\n'],
    [
      'is found by a link inside the root, with the modules next to the real file',
      'linked.py',
      'helper more __main__\n',
    ],
    ['reads files next to it', 'reports/read.py', '1,2\n'],
    ['has its own folder first on sys.path, and an empty work folder', 'reports/where.py', 'True []\n'],
    ['hides a standard module by one next to it', 'reports/shadows.py', 'own\n'],
    ['can change nothing there, and leave it by no path', 'reports/writes.py', 'held\n'],
  ])('%s', async (_, file, output) => {
    expect(await printed(pungi, { file })).toBe(output);
  });

  test('sees files of the request in its work folder, and imports them', async () => {
    const files = [{ path: 'given.py', text: 'NAME = "given"' }];
    expect(await printed(pungi, { file: 'reports/uses_given.py', files })).toBe('given\n');
  });

  test('its traceback shows lines of its modules as its own', async () => {
    const { verdict } = await pungi.run({ file: 'reports/fails.py' });
    expect(verdict).toMatchObject({ kind: 'python-error', exception: { line: 2 } });
    const { traceback } = (verdict as { exception: { traceback: string } }).exception;
    expect(traceback).toContain('File "fails.py", line 2');
    expect(traceback).toContain('File "broken.py", line 2');
  });

  test('keeps its folder in a session', async () => {
    const first = await pungi.run({ file: 'reports/main.py', session: 'new' });
    expectOk(first);
    const session = first.session!.id;
    expect(await printed(pungi, { code: 'print(helper.NAME)', session })).toBe('helper\n');
    expect(await printed(pungi, { file: 'reports/read.py', session })).toBe('1,2\n');
  });

  test('other code does not see the folder', async () => {
    const code = `
import glob
print(glob.glob("/run/data/.*"), glob.glob("${SCRIPT_ROOTS}/*"))
try:
    import helper
except ImportError:
    print("held")
`;
    expect(await printed(pungi, { code })).toBe('[] []\nheld\n');
  });

  test('under rules of a profile it runs alone', async () => {
    const { verdict } = await pungi.run({ file: 'reports/main.py', profile: 'narrow' });
    expect(verdict).toMatchObject({ kind: 'python-error', exception: { type: 'ModuleNotFoundError' } });
  });

  test('an outcome that a profile keeps is not used after a change of a module next to it', async () => {
    make('root/cached/main.py', 'import part\nprint(part.NAME)');
    const part = make('root/cached/part.py', 'NAME = "one"');
    const request = { file: 'cached/main.py', profile: 'kept' };
    expect(await printed(pungi, request)).toBe('one\n');
    writeFileSync(part, 'NAME = "another"');
    expect(await printed(pungi, request)).toBe('another\n');
  });

  test('a program that runs code names its folder', async () => {
    const code = 'import helper\nprint(helper.NAME, __file__.endswith("/main.py"))';
    const local = { scriptFolder: join(folder, 'root/reports') };
    const outcome = await pungi.run({ code, filename: 'main.py' }, { local });
    expectOk(outcome);
    expect(outcome.stdout.text).toBe('helper True\n');
  });
});

describe.each(SANDBOXES)('the folder of a person’s own script, in the %s tier', (PUNGI_TIER) => {
  const pungi = sharedPungi({ PUNGI_TIER, PUNGI_PYTHON });
  make('own/helper.py', 'NAME = "helper"');
  make('own/data/deep/plain.txt', 'plain');
  const secrets = [
    '.env',
    '.git/config',
    '.ssh/id',
    'data/.env',
    'data/deep/.netrc',
    'data/.cache/deep/token',
  ];
  for (const path of secrets) make(`own/${path}`, 'SECRET');
  make('outside.txt', 'SECRET');
  for (const [link, target] of [
    [`to-env-${PUNGI_TIER}`, '.env'],
    [`to-git-${PUNGI_TIER}`, '.git'],
    [`to-above-${PUNGI_TIER}`, '..'],
  ] as const)
    symlinkSync(target, join(folder, 'own', link));

  test('can be imported from and read, and keeps its hidden files and folders to itself', async () => {
    const code = `
import os, helper
from pathlib import Path
here = Path(__file__).parent
found = []
for top, folders, names in os.walk(here):
    folders += [name for name in os.listdir(top) if os.path.islink(os.path.join(top, name))]
    for name in names:
        try:
            found.append((name, open(os.path.join(top, name)).read()))
        except OSError:
            pass
for path in ${JSON.stringify(secrets)}:
    for way in here / path, Path("/proc/self/root") / str(here)[1:] / path, here / "to-env-${PUNGI_TIER}", here / "to-git-${PUNGI_TIER}/config", \
            here / "to-above-${PUNGI_TIER}/outside.txt", here / "data/../" / path:
        try:
            found.append((path, way.read_text()))
        except OSError:
            pass
for path in ".env", "data/.env":
    for attempt in (lambda: (here / path).write_text("x"), lambda: (here / path).unlink(), lambda: os.rename(here / path, here / "seen"),
                    lambda: os.link(here / path, "mine")):
        try:
            attempt()
            print("changed", path)
        except OSError:
            pass
print(helper.NAME, (here / "data/deep/plain.txt").read_text(), [entry for entry in found if "SECRET" in entry[1]])
`;
    const local = { scriptFolder: join(folder, 'own') };
    const outcome = await pungi.run({ code, filename: 'main.py' }, { local });
    expectOk(outcome);
    expect(outcome.stdout.text).toBe('helper plain []\n');
    expect(outcome.stderr.text).toBe('');
  });
});

describe('a folder of scripts that cannot be shown', () => {
  make('private/alone.py', 'print("ran")');
  chmodSync(join(folder, 'private'), 0o700);
  const busy = join(folder, 'busy');
  make(
    'busy/alone.py',
    'import socket\ntry:\n    socket.socket(socket.AF_UNIX)\nexcept OSError:\n    print("no socket")',
  );
  const server = createServer().listen(join(busy, 'socket'));
  afterAll(() => server.close());
  const pungi = sharedPungi({
    SCRIPT_ROOTS: [join(folder, 'private'), busy, '/tmp', join(folder, 'none')].join(':'),
  });

  test.each([
    ['because only the server can read it', 'private/alone.py', 'ran\n'],
    ['as a whole, because a program listens there', 'busy/alone.py', 'no socket\n'],
  ])('%s: the script runs', async (_, file, output) => {
    expect(await printed(pungi, { file: join(folder, file) })).toBe(output);
  });
});
