import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PungiError } from '../../src/base/errors.js';
import { silentLogger } from '../../src/base/logger.js';
import { lockFile } from '../../src/runtime/file-lock.js';
import { ForkServer } from '../../src/runtime/fork-server.js';
import { Listener } from '../../src/runtime/listener.js';
import { findInterpreter } from '../../src/sandbox/interpreter.js';
import { runTool } from '../../src/sandbox/tool.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pungi-spawn-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a server without descriptors left says so of whatever it cannot start, and goes on when there are some', async () => {
  const { path: python } = await findInterpreter();
  const fixture = fileURLToPath(new URL('./fixtures/no-descriptors.mjs', import.meta.url));
  const options = JSON.stringify({ python, lock: join(folder, 'lock') });
  const words = ['-c', 'ulimit -n 256; exec "$@"', 'sh', process.execPath, fixture, options];
  // A group of its own: what it might do to its group, it does to itself.
  const child = spawn('/bin/sh', words, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const stdout = await text(child.stdout);
  const failure = expect.stringContaining('too many files');
  const told = { failure, again: 'works' };
  expect(JSON.parse(stdout)).toEqual({ forkServer: told, lock: told, tool: told, interpreter: told });
});

describe.each([
  ['is not there', () => join(folder, 'none'), 'it is not there'],
  ['may not be executed', () => folder, 'it may not be executed'],
  // Node throws for this one.
  ['has an impossible name', () => 'a\0b', 'null bytes'],
])('an interpreter that %s', (_, python, why) => {
  const sentence = `the interpreter .* could not be started: .*${why}`;

  test('fails a fork server', async () => {
    const listener = new Listener();
    await listener.listening;
    const settings = {
      preload: [],
      preloadTimeoutMs: 60_000,
      memoryMb: 512,
      mostSupervisors: 4,
      roots: [],
      data: [],
      diskMb: 8,
      isBare: true,
      network: null,
      preloadIsOptional: true,
    };
    const forkServer = new ForkServer(
      { ...settings, cgroups: null, tier: 'process', python: python() },
      listener,
      silentLogger,
    );
    await expect(forkServer.start()).rejects.toThrow(new RegExp(sentence));
    expect(forkServer.isAlive).toBe(false);
    await expect(forkServer.start()).rejects.toThrow('the fork server has ended');
    await forkServer.end();
    await listener.close();
  });

  test('fails a lock', async () => {
    const request = { path: join(folder, 'lock'), mode: 'shared', create: true } as const;
    await expect(lockFile(python(), request)).rejects.toThrow(new RegExp(sentence));
  });

  test('fails a tool', async () => {
    const command = { python: python(), command: '/bin/true', args: [], env: {} };
    const failure = await runTool(command, { timeoutMs: 10_000 }).catch((error) => error);
    expect(failure).toBeInstanceOf(PungiError);
    expect(failure.message).toMatch(new RegExp(sentence));
  });
});
