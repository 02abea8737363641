import { existsSync, statSync } from 'node:fs';
import { auditError, isUnwritable, translateError } from './audit-error.js';
import { Database } from './database.js';
import type { AuditFiles } from './folder.js';
import { isFresh } from './open-database.js';
import { whenFree } from './transaction.js';

/** Finds a trail that others may be writing. Makes none where there is none, and changes nothing. */
export async function connectForReading(files: AuditFiles): Promise<Database> {
  const { folder } = files;
  if (!existsSync(files.database))
    throw auditError('unusable', `There is no audit trail in ${folder}.`, { folder });
  try {
    return await connect(files, 'read');
  } catch (error) {
    if (!isUnwritable((error as Error).cause)) throw translateError(error, folder);
    if (hasLog(files))
      throw auditError(
        'unusable',
        `The audit trail in ${folder} was not closed, and reading it needs a folder that can be written: copy it to one.`,
        { folder },
        error,
      );
    return await connect(files, 'frozen');
  }
}

async function connect(files: AuditFiles, access: 'read' | 'frozen'): Promise<Database> {
  const { folder } = files;
  const database = await Database.connect(files.database, access);
  try {
    const isEmpty = await whenFree(() => isFresh(database, files), folder);
    if (isEmpty) throw auditError('damaged', `The audit database in ${folder} is empty.`, { folder });
    return database;
  } catch (error) {
    database.close();
    throw translateError(error, folder);
  }
}

/** What was written last is in SQLite's log until the trail is closed. */
const hasLog = ({ database }: AuditFiles) =>
  (statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
