import { join, resolve } from 'node:path';
import { dataFolder } from '../../base/files.js';
import { foldName } from '../name.js';

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
