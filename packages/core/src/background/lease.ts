import { rm, writeFile } from 'node:fs/promises';
import { isBusy, isNoDatabase } from '../audit/audit-error.js';
import { Database } from '../audit/database.js';

/**
 * A lock file that shows that a server is alive. SQLite takes the lock, because Node cannot: the kernel releases it when the
 * process ends, however that happens, and it holds across pid namespaces.
 */
export class Lease {
  private constructor(
    private readonly path: string,
    private readonly database: Database,
  ) {}

  /** Returns null if a living server has it. */
  static async take(path: string): Promise<Lease | null> {
    // A file that exists is not opened here: closing it would release the locks that this process has on it.
    await writeFile(path, '', { flag: 'wx', mode: 0o600 }).catch(unless('EEXIST'));
    const database = await Database.connect(path, 'write');
    try {
      database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
    } catch (error) {
      // No server has written into it, so none has it.
      if (isNoDatabase(error)) return new Lease(path, database);
      database.close();
      if (isBusy(error)) return null;
      throw error;
    }
    return new Lease(path, database);
  }

  /** The file goes first: nobody takes the lock of a lease that has ended. */
  async release(): Promise<void> {
    await rm(this.path, { force: true }).catch(() => {});
    this.database.close();
  }
}

const unless = (code: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== code) throw error;
};
