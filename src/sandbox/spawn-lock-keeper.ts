import { type ChildProcess, spawn } from 'node:child_process';
import { PYTHON_HALF } from './spawn.js';

const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };

/** Requests go to its stdin, answers come from its stdout (python/pungi/lock_keeper.py); it ends when stdin ends. */
export function spawnLockKeeper(python: string): ChildProcess {
  return spawn(python, ['-I', '-S', '-X', 'utf8', PYTHON_HALF, 'lock-keeper'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: ENVIRONMENT,
    cwd: '/',
    // Ctrl-C in a terminal is for the server, which still needs its locks while it closes.
    detached: true,
  });
}
