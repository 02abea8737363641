import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAIN } from '../../../tests/support/main.js';
import { sha256 } from '../../core/src/base/sha256.js';
import { descendants, isAlive, program, pungi, start } from './pungi.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'test-run-stdin-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const HASH = 'import sys, hashlib; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())';
/** More than fits into a request. */
const LARGE = Buffer.from(Array.from({ length: 9_000_000 }, (_, index) => (index * 7919) % 251));
const large = () => writeFileSync(join(folder, 'large.bin'), LARGE);
const inShell = (line: string) =>
  promisify(execFile)('sh', ['-c', line, process.execPath, MAIN], { cwd: folder });

describe('what is piped in', () => {
  test('need not end', async () => {
    const { stdout } = await inShell(`yes | "$0" "$1" run -c 'import sys; print(sys.stdin.readline())'`);
    expect(stdout).toBe('y\n\n');
  });
  test('is read while the script runs, line by line', async () => {
    const { child, ended, shows } = start([
      'run',
      '-c',
      'for word in iter(input, "end"): print("got", word)',
    ]);
    for (const word of ['one', 'two']) {
      child.stdin.write(`${word}\n`);
      await shows('stdout', `got ${word}\n`);
    }
    child.stdin.write('end\n');
    // It ends although its standard input does not.
    expect(await ended).toEqual({ status: 0, stdout: 'got one\ngot two\n', stderr: '' });
  });
  test('is not waited for by a script that does not read', async () => {
    const { ended } = start(['run', '-c', 'print("on")']);
    expect(await ended).toEqual({ status: 0, stdout: 'on\n', stderr: '' });
  });
  test('may be of any size, and bytes, from a pipe or a file', async () => {
    large();
    const expected = { stdout: `${sha256(LARGE)}\n`, stderr: '' };
    expect(await inShell(`cat large.bin | "$0" "$1" run -c '${HASH}'`)).toEqual(expected);
    expect(await inShell(`"$0" "$1" run -c '${HASH}' < large.bin`)).toEqual(expected);
    expect(await inShell(`"$0" "$1" run --stdin @large.bin -c '${HASH}'`)).toEqual(expected);
    // From where it is read already.
    const { stdout } = await inShell(`(head -c 1 > first; "$0" "$1" run -c '${HASH}') < large.bin`);
    expect(stdout).toBe(`${sha256(LARGE.subarray(1))}\n`);
  });
  test('Ctrl-C ends a script that waits for it', async () => {
    const { child, ended, shows } = start(['run', '-c', 'print("waiting"); input()']);
    await shows('stdout', 'waiting');
    const processes = descendants(child.pid!);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ status: 130 });
    expect(processes.filter(isAlive)).toEqual([]);
  });
  test('is in the audit trail, which replays the run', async () => {
    const env = { AUDIT: 'true', AUDIT_DIR: join(folder, 'audit') };
    await program(['run', '-c', 'print(input()[::-1])'], { env, input: 'straw\n' });
    const replay = await pungi(['audit', 'replay', 'last'], { env });
    expect(replay).toMatchObject({ status: 0 });
    expect(replay.stdout).toContain('gave the same output');
  });
});

describe('--file', () => {
  test('may be of any size up to the disk of the run', async () => {
    large();
    const code = 'import hashlib; print(hashlib.sha256(open("in/data.bin", "rb").read()).hexdigest())';
    const args = ['run', '--file', 'in/data.bin=large.bin', '-c', code];
    expect(await pungi(args, { cwd: folder })).toEqual({
      status: 0,
      stdout: `${sha256(LARGE)}\n`,
      stderr: '',
    });
    const { status, stderr } = await pungi(['run', '--disk', '4', ...args.slice(1)], { cwd: folder });
    expect(status).toBe(2);
    expect(stderr).toMatch(/^pungi: [^\n]*4 MB[^\n]*\n$/);
  });
  test('an unchanged large file is none that the script left', async () => {
    large();
    const { stderr } = await pungi(['run', '--out', 'out', '--file', 'large.bin', '-c', '1'], {
      cwd: folder,
    });
    expect(stderr).toBe('');
  });
});
