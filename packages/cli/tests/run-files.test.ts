import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pungi } from './pungi.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'test-run-files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const below = (path: string) => join(folder, path);
const run = (args: string[], env: Record<string, string> = {}) =>
  pungi(['run', ...args], { cwd: folder, env });
const textIn = (path: string) => readFileSync(below(path), 'utf8');

describe('pungi run --out', () => {
  test('saves the files that a script makes or changes, to the byte, and says which', async () => {
    writeFileSync(below('same.txt'), 'same');
    writeFileSync(below('old.txt'), 'old');
    writeFileSync(
      below('script.py'),
      `import os
os.makedirs("a/b")
open("a/b/data.bin", "wb").write(bytes(range(256)))
open("old.txt", "a").write(" and new")
raise SystemExit(3)`,
    );
    const { status, stdout, stderr } = await run([
      ...['--file', 'same.txt', '--file', 'old.txt', '--out', 'out', 'script.py'],
    ]);
    expect({ status, stdout }).toEqual({ status: 3, stdout: '' });
    expect(stderr).toBe('pungi: saved out/a/b/data.bin\npungi: saved out/old.txt\n');
    expect(
      readFileSync(below('out/a/b/data.bin')).equals(Buffer.from(Array.from({ length: 256 }, (_, i) => i))),
    ).toBe(true);
    expect(textIn('out/old.txt')).toBe('old and new');
    expect(readdirSync(below('out')).sort()).toEqual(['a', 'old.txt']);
    expect(textIn('old.txt')).toBe('old');
  });
  test('replaces files of the same name, and says so; others stay', async () => {
    mkdirSync(below('out'));
    writeFileSync(below('out/a.txt'), 'before');
    writeFileSync(below('out/other.txt'), 'other');
    const { stderr } = await run(['--out', 'out', '-c', 'open("a.txt", "w").write("after"); None']);
    expect(stderr).toBe('pungi: replaced out/a.txt\n');
    expect([textIn('out/a.txt'), textIn('out/other.txt')]).toEqual(['after', 'other']);
  });
  test('saves more than ARTIFACT_MB, and with --json nothing else is printed than where', async () => {
    const code = 'open("big", "wb").write(bytes(3 << 20)); None';
    const { stdout, stderr } = await run(['--json', '--out', 'out', '-c', code], { ARTIFACT_MB: '1' });
    expect(stderr).toBe('pungi: saved out/big\n');
    expect(JSON.parse(stdout).artifacts).toMatchObject([{ path: 'big', size: 3 << 20 }]);
    expect(lstatSync(below('out/big')).size).toBe(3 << 20);
  });
  test('says how many files were left out, because there are too many', async () => {
    const code = 'for i in range(205): open(f"f{i}", "w").close()';
    const { stderr } = await run(['--out', 'out', '-c', code]);
    expect(stderr).toContain('pungi: 5 files were left out');
    expect(stderr).toContain('pungi: … and 150 more\n');
    expect(readdirSync(below('out'))).toHaveLength(200);
  });
  test('saves a display beside a file of the same name', async () => {
    const code = 'open("display-1.html", "w").write("file"); display({"text/html": "<b>"}, raw=True)';
    await run(['--out', 'out', '-c', code]);
    expect([textIn('out/display-1.html'), textIn('out/shown-display-1.html')]).toEqual(['file', '<b>']);
  });
  test('files are mentioned where they are not saved', async () => {
    const { stderr } = await run(['-c', 'open("out.csv", "w").close()']);
    expect(stderr).toBe(
      'pungi: the file out.csv was left; --out DIR saves what a run shows and leaves as files\n',
    );
  });
});

describe('nothing that a script leaves gets out of the folder of --out', () => {
  test('through links in that folder', async () => {
    mkdirSync(below('elsewhere'));
    mkdirSync(below('out'));
    writeFileSync(below('elsewhere/target'), 'untouched');
    symlinkSync(below('elsewhere'), below('out/folder'));
    symlinkSync(below('elsewhere/target'), below('out/file'));
    symlinkSync(below('elsewhere/made'), below('out/figure-1.png'));
    const code = `import os; os.mkdir("folder"); os.mkdir("folder/below")
for name in "folder/target", "folder/below/x", "file", "figure-1.png": open(name, "w").write("evil")`;
    const { status, stderr } = await run(['--out', 'out', '-c', code]);
    expect(status).toBe(0);
    expect(stderr).toContain('could not save out/folder/target: out/folder is a link, which is not followed');
    expect(readdirSync(below('elsewhere'))).toEqual(['target']);
    expect(textIn('elsewhere/target')).toBe('untouched');
    expect(lstatSync(below('out/file')).isFile()).toBe(true);
  });
  test('through its own links, pipes, devices and names', async () => {
    const code = `import os
os.symlink("/etc", "etc"); os.symlink("/etc/passwd", "passwd"); os.mkfifo("pipe")
open("..evil", "w").write("hidden"); open(".profile", "w").write("hidden"); open("a\\\\..\\\\b", "w").write("x")
open("esc\\x1b[31m\\n\\r.txt", "w").write("x"); open(b"\\xff.txt", "w").write("x")
open("n" * 255, "w").write("long")`;
    const { status, stderr } = await run(['--out', 'out', '-c', code]);
    expect(status).toBe(0);
    expect(readdirSync(below('out')).sort()).toEqual(['esc\x1b[31m\n\r.txt', 'n'.repeat(255)]);
    expect(stderr).not.toContain('\x1b');
    expect(stderr).toMatch(/^(pungi: [^\n\r]*\n)+$/);
  });
  test('a folder in the place of a file is reported, and nothing half-written stays', async () => {
    mkdirSync(below('out/a.txt'), { recursive: true });
    const { status, stderr } = await run(['--out', 'out', '-c', 'open("a.txt", "w").close()']);
    expect(status).toBe(0);
    expect(stderr).toMatch(/^pungi: could not save out\/a\.txt: [^\n]+\n$/);
    expect(execFileSync('find', [below('out'), '-type', 'f']).toString()).toBe('');
    expect(existsSync(below('out/a.txt'))).toBe(true);
  });
});
