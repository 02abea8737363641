import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { descendants, isAlive, start } from './pungi.js';

const SLEEPER = 'print("started", flush=True); import time; time.sleep(1000)';
const UNTIL = { timeout: 20_000 };
const onLinux = process.platform === 'linux';

test.runIf(onLinux).each(['SIGINT', 'SIGTERM'] as const)(
  '%s cancels the run, says so, and leaves no process',
  async (signal) => {
    const { child, ended, shows } = start(['run', '-c', SLEEPER]);
    child.stdin.end();
    await shows('stdout', 'started\n');
    const below = descendants(child.pid!);
    expect(below.length).toBeGreaterThan(0);
    child.kill(signal);
    const { status, stdout, stderr } = await ended;
    expect({ status, stdout }).toEqual({ status: 130, stdout: 'started\n' });
    expect(stderr).toMatch(/^pungi: [^\n]*cancelled[^\n]*\n$/i);
    await expect.poll(() => below.filter(isAlive), UNTIL).toEqual([]);
  },
);

test('Ctrl-C with --json still answers with the outcome', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'test-interrupt-'));
  const log = join(folder, 'log');
  const { child, ended } = start(['run', '--json', '--stdin', '', '--log-file', log, '-c', SLEEPER]);
  await expect
    .poll(() => existsSync(log) && readFileSync(log, 'utf8'), UNTIL)
    .toContain('Ready to run Python');
  child.kill('SIGINT');
  const { status, stdout } = await ended;
  rmSync(folder, { recursive: true });
  expect(JSON.parse(stdout)).toMatchObject({ verdict: { kind: 'cancelled' } });
  expect(status).toBe(130);
});

test('Ctrl-C while code is still being typed ends with 130', async () => {
  const { child, ended, shows } = start(['run', '-']);
  await shows('stderr', 'waiting for standard input');
  child.kill('SIGINT');
  const { status, stdout } = await ended;
  expect({ status, stdout }).toEqual({ status: 130, stdout: '' });
});

test.runIf(onLinux)('a run whose reader has gone is cancelled', async () => {
  const { child, ended, shows } = start(['run', '--stdin', '', '-c', 'while True: print("y" * 100)']);
  await shows('stdout', 'yyy\n');
  const below = descendants(child.pid!);
  child.stdout.destroy();
  expect((await ended).status).toBe(130);
  await expect.poll(() => below.filter(isAlive), UNTIL).toEqual([]);
});
