import type { ChildProcess } from 'node:child_process';
import { spawnPython } from './spawn.js';

const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };

/** Requests go to its stdin, answers come from its stdout (python/pungi/lock_keeper.py); it ends when stdin ends. */
export function spawnLockKeeper(python: string): ChildProcess {
  return spawnPython(python, 'lock-keeper', { stdio: ['pipe', 'pipe', 'pipe'], env: ENVIRONMENT });
}
