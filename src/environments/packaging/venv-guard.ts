import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { PungiError } from '../../base/errors.js';

/** The files that make a folder a virtual environment of its interpreter: path below it → what it is. */
type Core = Map<string, string>;

/**
 * Lets a tool put packages into an environment, but not change the environment itself. A wheel may bring any file below it,
 * and with the interpreter replaced our next command would start a stranger's program.
 */
export async function guardVenv<T>(venv: string, change: () => Promise<T>): Promise<T> {
  const before = await readCore(venv);
  const result = await change();
  const after = await readCore(venv);
  const replaced = [...before].filter(([path, content]) => after.get(path) !== content).map(([path]) => path);
  if (replaced.length === 0) return result;
  throw new PungiError(
    'PACKAGE_INSTALLATION_ERROR',
    `A package was refused, because it replaces ${replaced.join(', ')} of the environment.`,
    { replaced },
  );
}

async function readCore(venv: string): Promise<Core> {
  const programs = (await readdir(join(venv, 'bin'))).filter((name) => name.startsWith('python'));
  const core: Core = new Map();
  for (const path of ['pyvenv.cfg', ...programs.map((name) => join('bin', name))]) {
    core.set(path, await describe(join(venv, path)));
  }
  return core;
}

async function describe(path: string): Promise<string> {
  try {
    return `→ ${await readlink(path)}`;
  } catch {
    return readFile(path, 'latin1').catch(() => 'absent');
  }
}
