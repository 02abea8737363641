// Allows one set-up at a time: `npm start` and `npm test` may run in two terminals of a fresh clone.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { scratch } from './repository.mjs';

export async function withLock(work, path = scratch('lock')) {
  let hasReported = false;
  while (!take(path)) {
    if (!hasReported) console.error('Waiting for another set-up of this folder to finish …');
    hasReported = true;
    await pause(200);
  }
  const release = () => rmSync(path, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    release();
    process.off('exit', release);
  }
}

function take(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (!isAlive(holder(path))) rmSync(path, { force: true });
    return false;
  }
}

/** Returns the process that holds the lock, or undefined while it writes its number or has just released it. */
function holder(path) {
  try {
    return Number(readFileSync(path, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  if (pid === undefined) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
