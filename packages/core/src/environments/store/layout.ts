import { lstatSync, statSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { badArgument } from '../../base/arguments.js';
import { PungiError } from '../../base/errors.js';
import { dataFolder } from '../../base/files.js';

export const defaultBase = (env = process.env, uid = process.getuid?.()): string =>
  join(dataFolder(env, uid), 'environments');

/** The paths below the base folder. Names of environments cannot start with a dot. */
export class Layout {
  readonly base: string;
  readonly locks: string;
  /** The lock for adding an environment. No name of an environment starts with a dot. */
  readonly quotaLock: string;
  readonly cache: string;
  readonly bytecode: string;
  /** Environments that are being created. */
  readonly making: string;
  /** Environments that are being removed. */
  readonly trash: string;
  /** Maps inline dependencies to environments. */
  readonly inline: string;

  constructor(base: string) {
    this.base = resolve(base);
    this.locks = join(this.base, '.locks');
    this.quotaLock = join(this.locks, '.quota');
    this.cache = join(this.base, '.cache');
    this.bytecode = join(this.cache, 'bytecode');
    this.making = join(this.base, '.making');
    this.trash = join(this.base, '.trash');
    this.inline = join(this.base, '.inline');
  }

  folder(name: string): string {
    return join(this.base, name);
  }

  venv(name: string, generation: string): string {
    return join(this.base, name, generation);
  }

  /**
   * The exact content of a generation; a lease locks this file. It lies next to the generation, out of reach of runs
   * and packages.
   */
  lockFile(name: string, generation: string): string {
    return `${this.venv(name, generation)}.lock`;
  }

  python(name: string, generation: string): string {
    return join(this.venv(name, generation), 'bin', 'python');
  }

  /**
   * Locked by the process that changes the environment. Names that differ only in case share a lock, because some
   * file systems ignore case.
   */
  changeLock(name: string): string {
    return join(this.locks, `${foldName(name)}.change`);
  }

  /** Locked by fork servers while runs are active. */
  runsLock(name: string): string {
    return join(this.locks, `${foldName(name)}.runs`);
  }
}

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

/** Creates a folder and its parents. Node's recursive mkdir never ends where it cannot create any, such as below /proc. */
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

/** The prefix of environments for the inline dependencies of scripts. */
const INLINE_PREFIX = 'inline-';

const FORM = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

const ALLOWED = '1 to 64 letters (A-Z, a-z), digits, "_" and "-"';

// Windows opens a device for these names whatever the folder. The base folder may lie on a shared disk or be copied to
// one, so they are refused everywhere. Names such as "base" or "system" mean nothing to Pungi and harm nobody.
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

/** Checks that a name is safe as a folder name on every system. */
export function checkName(name: unknown, { allowInline = false }: { allowInline?: boolean } = {}): string {
  if (typeof name !== 'string') throw badArgument('venvName', `a name of ${ALLOWED}`, name);
  if (!FORM.test(name)) {
    throw refused(name, `the name of an environment is ${ALLOWED}, and does not start with "-"`);
  }
  const folded = foldName(name);
  if (DEVICE.test(folded)) {
    throw refused(name, 'Windows keeps this name for a device; choose another name');
  }
  if (folded.startsWith(INLINE_PREFIX) && !allowInline) {
    throw refused(
      name,
      `names that start with "${INLINE_PREFIX}" are kept for environments of inline dependencies; choose another name`,
    );
  }
  return name;
}

/** Two names with the same result are one folder on file systems that ignore case. */
export function foldName(name: string): string {
  return name.toLowerCase();
}

function refused(name: string, why: string): PungiError {
  const shown = JSON.stringify(shorten(name));
  return new PungiError('INVALID_INPUT', `${shown} cannot be the name of an environment: ${why}.`, {
    issues: [why],
  });
}

const shorten = (name: string) => (name.length > 80 ? `${name.slice(0, 80)}…` : name);
