import { chmod, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

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
