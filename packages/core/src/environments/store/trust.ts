import { lstatSync, statSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PungiError } from '../../base/errors.js';

const GROUP_OR_OTHERS_WRITE = 0o022;

/**
 * An environment's interpreter starts before the sandbox is entered, so anyone who can write to its folder could run
 * code as the server's user. A sticky folder is no better: others can put their own environment into it.
 */
export function checkTrusted(path: string): void {
  const own = process.getuid?.();
  if (own === undefined) return;
  const about = lstatSync(path);
  const { uid, mode } = about.isSymbolicLink() ? statSync(path) : about;
  if ((uid === own || uid === 0) && !(mode & GROUP_OR_OTHERS_WRITE)) return;
  throw new PungiError(
    'CONFIGURATION_ERROR',
    `${path} can be changed by other users, so nothing in it is run: make it your own (chown, chmod go-w), or choose another folder with VENVS_BASE_PATH.`,
    { path },
  );
}

/** With its parents. Node's own recursive mkdir never ends where nothing can be made, such as below /proc. */
export async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path), 0o755);
    await mkdir(path);
  }
  // Whatever the umask: the sandbox's user must be able to read what it will run.
  await chmod(path, mode);
}
