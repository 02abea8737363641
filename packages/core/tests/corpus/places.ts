import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunRequest } from '../../../pungi/src/index.js';
import { type Settings, withPungi } from '../engine/pungi.js';
import type { Places } from './compare.js';
import { type Interpreter, publish } from './interpreters.js';
import { makeEnvironment } from './plain-python.js';

/** Where snippets run, inside and outside of the sandbox: one interpreter with one set of packages. */
export interface Place {
  /** The folder of the virtual environment whose `bin/python` is plain Python. */
  environment: string;
  settings: Settings;
  request: Partial<RunRequest>;
  /** Folders that are named differently inside and outside. */
  names: Places;
  remove: () => void;
}

/** The interpreter without packages. Outside it is a virtual environment too, as the default environment is one. */
export async function barePlace(interpreter: Interpreter): Promise<Place> {
  const python = publish(interpreter);
  const folder = publicFolder();
  const environment = makeEnvironment(python.path, join(folder, 'env'));
  return {
    environment,
    settings: { PUNGI_PYTHON: python.path },
    request: {},
    names: [[environment, '/env']],
    remove: () => {
      python.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A named environment with packages of the index. Plain Python uses the very same files. */
export async function packagesPlace(interpreter: Interpreter, packages: readonly string[]): Promise<Place> {
  const python = publish(interpreter);
  const folder = publicFolder();
  const settings = { PUNGI_PYTHON: python.path, VENVS_BASE_PATH: folder, MAX_MEMORY_MB: '1024' };
  const { environment } = await withPungi(settings, (pungi) =>
    pungi.environments.create({ venvName: 'corpus', packages: [...packages] }),
  );
  return {
    environment: environment.path!,
    settings,
    request: { venvName: 'corpus' },
    names: [],
    remove: () => {
      python.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** As root, plain Python and the landlock tier have identities of their own. */
function publicFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'corpus-'));
  chmodSync(folder, 0o755);
  return folder;
}
