import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findInterpreter } from '../../core/src/sandbox/interpreter.js';
import { programToFiles, start } from './pungi.js';

const { path: python } = await findInterpreter();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'test-run-bytes-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a script leaves the same bytes in a file as with plain Python', () => {
  test.each([
    ['bytes that are no text', 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 3)'],
    ['a character cut in two', 'import os, sys; os.write(1, b"\\xc3"); os.write(1, b"\\xa9\\xc3")'],
    ['no end of line', 'import sys; print("a\\r\\nb\\r", end=""); print("x", end="", file=sys.stderr)'],
    ['nothing', '1 + 1'],
    ['a line of 2 MB, and NUL', 'print("y" * 2_000_000 + "\\0"); print("\\0" * 70_000, end="")'],
    [
      'a child process',
      'import os, sys; print(1, flush=True); os.system("printf \'\\\\377\\\\000\'"); print(2)',
    ],
    [
      'half a megabyte of noise',
      'import random, sys; sys.stdout.buffer.write(random.Random(1).randbytes(500_000))',
    ],
    ['both streams', 'import sys\nfor i in range(999): print(i); print(-i, file=sys.stderr)'],
  ])('%s', async (_, code) => {
    writeFileSync(join(folder, 'script.py'), code);
    const files = (by: string) =>
      ['out', 'err'].map((name) => join(folder, `${by}.${name}`)) as [string, string];
    const expected = files('python');
    const [out, err] = expected.map((path) => openSync(path, 'w'));
    execFileSync(python, ['script.py'], { cwd: folder, stdio: ['ignore', out, err] });
    for (const fd of [out!, err!]) closeSync(fd);
    const written = files('pungi');
    expect(await programToFiles(['run', 'script.py'], written, { cwd: folder })).toBe(0);
    for (const [index, path] of written.entries())
      expect(readFileSync(path).equals(readFileSync(expected[index]!)), path).toBe(true);
  });
});

test('part of a line is shown at once, and what Pungi says is on standard error', async () => {
  const running = start([
    'run',
    '--stdin',
    '@/dev/null',
    '-c',
    'import os, time; os.write(1, b"now"); time.sleep(600)',
  ]);
  await running.shows('stdout', /^now$/);
  running.child.kill('SIGINT');
  expect(await running.ended).toMatchObject({
    status: 130,
    stdout: 'now',
    stderr: expect.stringMatching(/^pungi: /),
  });
});
