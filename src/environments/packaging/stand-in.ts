import { copyFile, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PYTHON_HALF } from '../../sandbox/spawn.js';
import type { Target } from './packager.js';
import { withTemporaryFolder } from './temporary-folder.js';

export interface StandIn {
  /** Gone afterwards. */
  folder: string;
  python: string;
}

const MODULE = 'pungi_stand_in';

/**
 * An interpreter that says it is the environment's, for tools to start: uv asks it what it is, and pip runs in it. The
 * environment's own would run the .pth files of its packages, and find its modules, outside of any sandbox.
 * The folder is new each time: uv remembers what an interpreter said, by its path.
 */
export function withStandIn<T>(
  { python: interpreter, venv }: Target,
  work: (standIn: StandIn) => Promise<T>,
): Promise<T> {
  return withTemporaryFolder('stand-in', async (folder) => {
    const python = join(folder, 'bin', 'python');
    await mkdir(join(folder, 'bin'));
    await symlink(interpreter, python);
    await copyFile(join(venv, 'pyvenv.cfg'), join(folder, 'pyvenv.cfg'));
    for (const name of await readdir(join(venv, 'lib'))) {
      if (name.startsWith('python')) await furnish(join(folder, 'lib', name, 'site-packages'), venv);
    }
    return work({ folder, python });
  });
}

async function furnish(site: string, venv: string): Promise<void> {
  await mkdir(site, { recursive: true });
  await copyFile(join(PYTHON_HALF, 'pungi', 'stand_in.py'), join(site, `${MODULE}.py`));
  await writeFile(join(site, 'stand-in-for'), resolve(venv));
  await writeFile(join(site, `${MODULE}.pth`), `import ${MODULE}\n`);
}
