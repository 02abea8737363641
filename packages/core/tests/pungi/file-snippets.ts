import type { Snippet } from './session-snippets.js';

const write = (path: string, text = 'x') =>
  `open(${JSON.stringify(path)}, "w").write(${JSON.stringify(text)})`;

/** Files that calls get, make, change and remove, and which of them are reported. */
export const FILES: Snippet[] = [
  ['a new file', { code: write('a.txt'), leaves: ['a.txt'] }, { code: '1', leaves: [] }],
  [
    'a changed file counts again',
    { code: write('a.txt'), leaves: ['a.txt'] },
    { code: 'open("a.txt", "a").write("y")', leaves: ['a.txt'] },
  ],
  [
    'the same text again is a change',
    { code: write('a.txt'), leaves: ['a.txt'] },
    { code: write('a.txt'), leaves: ['a.txt'] },
  ],
  [
    'a file that is only read does not count',
    { code: write('a.txt'), leaves: ['a.txt'] },
    { code: 'open("a.txt").read()', is: 'x', leaves: [] },
  ],
  [
    'a removed file',
    { code: write('a.txt'), leaves: ['a.txt'] },
    { code: 'import os\nos.remove("a.txt")', leaves: [] },
    { code: 'os.path.exists("a.txt")', is: false },
  ],
  [
    'a renamed file',
    { code: write('a.txt'), leaves: ['a.txt'] },
    { code: 'import os\nos.rename("a.txt", "b.txt")', leaves: ['b.txt'] },
  ],
  [
    'folders within folders',
    { code: `import os\nos.makedirs("a/b/c")\n${write('a/b/c/d.txt')}`, leaves: ['a/b/c/d.txt'] },
  ],
  [
    'an empty file and an empty folder',
    { code: 'import os\nos.mkdir("e")\nopen("empty", "w").close()', leaves: ['empty'] },
  ],
  [
    'hidden files, caches and the script do not count',
    {
      code: `${write('.hidden')}\nimport os\nos.mkdir(".cache")\n${write('.cache/a')}\nos.mkdir("__pycache__")\n${write('__pycache__/a.pyc')}`,
      leaves: [],
    },
  ],
  [
    'files of /tmp do not count',
    {
      code: 'import tempfile, os\nopen(os.path.join(tempfile.gettempdir(), "a"), "w").write("x")',
      leaves: [],
    },
  ],
  [
    'links, pipes and sockets do not count',
    {
      code: `import os, socket\nos.symlink("/etc/passwd", "link")\nos.mkfifo("pipe")\n${write('real')}\nos.symlink("real", "own")`,
      leaves: ['real'],
    },
  ],
  ['a hard link is a file', { code: `import os\n${write('a')}\nos.link("a", "b")`, leaves: ['a', 'b'] }],
  [
    'a link to a folder is not followed',
    { code: 'import os\nos.symlink("/etc", "etc")\nos.symlink("..", "up")', leaves: [] },
  ],
  [
    'names with spaces, accents and newlines',
    {
      code: `${write('with space.txt')}\n${write('ünï😀.txt')}\n${write('new\nline.txt')}`,
      leaves: ['new\nline.txt', 'with space.txt', 'ünï😀.txt'],
    },
  ],
  [
    'a name that is no text',
    { code: 'import os\nopen(b"\\xff\\xfe.txt", "w").write("x")\nos.listdir(b".")', leaves: [] },
  ],
  [
    'inputs are there, and count when they change',
    { code: 'open("in.txt").read()', files: [{ path: 'in.txt', text: 'given' }], is: 'given', leaves: [] },
    { code: 'open("in.txt", "a").write("!")', leaves: ['in.txt'] },
  ],
  [
    'inputs of a later call replace files',
    { code: write('data.csv', 'old'), leaves: ['data.csv'] },
    { code: 'open("data.csv").read()', files: [{ path: 'data.csv', text: 'new' }], is: 'new', leaves: [] },
  ],
  [
    'an input in a folder, in base64',
    {
      code: 'open("deep/in.bin", "rb").read() == b"\\0\\1"',
      files: [{ path: 'deep/in.bin', base64: 'AAE=' }],
      is: true,
      leaves: [],
    },
  ],
  [
    'a file that was left open has what was written',
    {
      code: 'f = open("log.txt", "w")\nf.write("abc")\nimport os\nos.path.getsize("log.txt")',
      is: 0,
      leaves: ['log.txt'],
    },
    { code: 'os.path.getsize("log.txt")', is: 3, leaves: [] },
    { code: 'f.close()', leaves: [] },
  ],
  [
    'a writer of csv that was left open',
    'import csv, os\nrows = csv.writer(file := open("rows.csv", "w", newline=""))\nrows.writerow([1, 2])',
    { code: 'open("rows.csv").read()', is: '1,2\n' },
  ],
  [
    'a call that fails leaves its files',
    { code: `${write('a.txt')}\n1 / 0`, fails: 'ZeroDivisionError', leaves: ['a.txt'] },
    { code: 'open("a.txt").read()', is: 'x' },
  ],
  [
    'a call that takes too long leaves its files',
    {
      code: `${write('a.txt')}\nimport time\ntime.sleep(60)`,
      limits: { timeoutMs: 300 },
      timesOut: true,
      leaves: ['a.txt'],
    },
    { code: 'open("a.txt").read()', is: 'x' },
  ],
  [
    'an exit leaves its files',
    { code: `${write('a.txt')}\nraise SystemExit(2)`, exits: 2, leaves: ['a.txt'] },
  ],
  [
    'files of child processes',
    {
      code: 'import subprocess\nsubprocess.run("echo hi > made.txt; mkdir d; cp made.txt d/", shell=True, check=True)',
      leaves: ['d/made.txt', 'made.txt'],
    },
  ],
  [
    'a database on disk',
    {
      code: 'import sqlite3\ndb = sqlite3.connect("a.db")\ndb.execute("create table t (n)")\ndb.commit()',
      leaves: ['a.db'],
    },
    { code: 'db.execute("insert into t values (1)")\ndb.commit()', leaves: ['a.db'] },
  ],
  [
    'archives',
    {
      code: 'import zipfile\nwith zipfile.ZipFile("a.zip", "w") as z: z.writestr("in/side.txt", "x")',
      leaves: ['a.zip'],
    },
    { code: 'zipfile.ZipFile("a.zip").extractall("out")', leaves: ['out/in/side.txt'] },
  ],
  [
    'json, and pathlib',
    {
      code: 'import json, pathlib\npathlib.Path("a.json").write_text(json.dumps({"a": 1}))',
      leaves: ['a.json'],
    },
    { code: 'json.loads(pathlib.Path("a.json").read_text())', is: { a: 1 }, leaves: [] },
  ],
  [
    'a file in another working folder',
    { code: `import os\nos.mkdir("sub")\nos.chdir("sub")\n${write('here.txt')}`, leaves: ['sub/here.txt'] },
    { code: write('there.txt'), leaves: ['sub/there.txt'] },
  ],
  [
    'a file without permissions',
    { code: `import os\n${write('locked.txt')}\nos.chmod("locked.txt", 0o400)`, leaves: ['locked.txt'] },
  ],
  [
    'a memory map',
    {
      code: 'import mmap\nwith open("map.bin", "wb") as f: f.write(bytes(10))\nfile = open("map.bin", "r+b")\narea = mmap.mmap(file.fileno(), 0)\narea[0] = 7',
      leaves: ['map.bin'],
    },
    { code: 'open("map.bin", "rb").read()[0]', is: 7 },
  ],
];
