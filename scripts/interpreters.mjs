// The Python interpreters of this machine from 3.10 on, or from another version: those on PATH, and those that pyenv keeps.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

const NAMES = ['python3', ...[9, 10, 11, 12, 13, 14].map((minor) => `python3.${minor}`)];
const ASK =
  'import sys; print(sys.version_info[0], sys.version_info[1], sys.version.split()[0], sys.executable)';

/** Returns one interpreter per minor version: testing two copies of the same version adds nothing. */
export function findInterpreters(oldest = 10) {
  const found = new Map();
  for (const path of candidates()) {
    const interpreter = ask(path);
    if (interpreter && interpreter.minor >= oldest && !found.has(interpreter.minor))
      found.set(interpreter.minor, interpreter);
  }
  return [...found.values()].sort((a, b) => a.minor - b.minor);
}

function candidates() {
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const versions = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions');
  const kept = existsSync(versions)
    ? readdirSync(versions).map((name) => join(versions, name, 'bin', 'python3'))
    : [];
  // A pyenv shim asks pyenv, which may refuse; the interpreters behind the shims follow.
  return [...kept, ...onPath].filter((path) => existsSync(path));
}

function ask(path) {
  const { status, stdout } = spawnSync(path, ['-I', '-c', ASK], { encoding: 'utf8', timeout: 20_000 });
  if (status !== 0) return undefined;
  const [major, minor, version, ...executable] = stdout.trim().split(' ');
  if (Number(major) !== 3) return undefined;
  return { path: realpathSync(executable.join(' ')), version, minor: Number(minor) };
}
