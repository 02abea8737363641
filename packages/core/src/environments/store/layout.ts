import { join, resolve } from 'node:path';
import { dataFolder } from '../../base/files.js';
import { foldName } from '../name.js';

export const defaultBase = (env = process.env, uid = process.getuid?.()): string =>
  join(dataFolder(env, uid), 'environments');

/** Where everything lies below the base folder. Names of environments cannot start with a dot. */
export class Layout {
  readonly base: string;
  readonly locks: string;
  /** The lock of whoever adds an environment. No name of an environment starts with a dot. */
  readonly quotaLock: string;
  readonly cache: string;
  readonly bytecode: string;
  /** What is being made, before it gets its name. */
  readonly making: string;
  /** What is being removed, after it lost its name. */
  readonly trash: string;
  /** Which environment answers which inline dependencies. */
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
   * What exactly a generation was filled with; who leases the generation locks this file. It lies beside the generation, where
   * neither runs nor packages can reach.
   */
  lockFile(name: string, generation: string): string {
    return `${this.venv(name, generation)}.lock`;
  }

  python(name: string, generation: string): string {
    return join(this.venv(name, generation), 'bin', 'python');
  }

  /** Locked by whoever changes the environment. Names that differ in case only would be one folder on some file systems: they share a lock. */
  changeLock(name: string): string {
    return join(this.locks, `${foldName(name)}.change`);
  }

  /** Locked by fork servers while runs are under way. */
  runsLock(name: string): string {
    return join(this.locks, `${foldName(name)}.runs`);
  }
}
