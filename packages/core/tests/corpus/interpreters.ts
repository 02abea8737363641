import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findInterpreters } from '../../../../scripts/interpreters.mjs';
import { ORDINARY_USER } from './ordinary-user.js';

export interface Interpreter {
  path: string;
  version: string;
  minor: number;
}

/** Every interpreter of this machine, oldest first. */
export const interpreters = (): Interpreter[] => findInterpreters();

/**
 * The interpreter where ordinary users can read it. As root, those in root's home are copied, by links where possible; not
 * below the folder for temporary files, which runs have their own of. `remove` takes the copy away.
 */
export function publish(interpreter: Interpreter): Interpreter & { remove: () => void } {
  if (isPublic(interpreter.path)) return { ...interpreter, remove: () => undefined };
  const prefix = dirname(dirname(interpreter.path));
  const folder = mkdtempSync('/var/tmp/pungi-python-');
  chmodSync(folder, 0o755);
  const target = join(folder, 'python');
  copyByLinks(prefix, target);
  const path = join(target, 'bin', basename(interpreter.path));
  moveLibraryPath(path, join(prefix, 'lib'));
  return { ...interpreter, path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function isPublic(path: string): boolean {
  if (ORDINARY_USER === undefined) return true;
  try {
    execFileSync(path, ['-c', ''], { ...ORDINARY_USER, cwd: '/', stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function copyByLinks(source: string, target: string): void {
  mkdirSync(target);
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
    else if (entry.isDirectory()) copyByLinks(from, to);
    else linkOrCopy(from, to);
  }
  chmodSync(target, statSync(source).mode & 0o777);
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    cpSync(from, to);
  }
}

/** An interpreter with a shared library has its path inside: it has to look beside itself instead. */
function moveLibraryPath(executable: string, library: string): void {
  const bytes = readFileSync(executable);
  const at = bytes.indexOf(`${library}\0`);
  const mode = statSync(executable).mode;
  if (at === -1) return;
  const beside = '$ORIGIN/../lib';
  bytes.fill(0, at, at + library.length).write(beside, at);
  // Not in place, where it may be a link to the original.
  rmSync(executable);
  writeFileSync(executable, bytes, { mode });
  chmodSync(executable, mode);
}
