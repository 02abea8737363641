import { existsSync } from 'node:fs';
import { auditError, translateError } from './audit-error.js';
import { NO_HASH, prepareRecord } from './chain.js';
import { Database } from './database.js';
import { type AuditFiles, makeEmptyFile, syncFolder } from './folder.js';
import { adoptKeys, type KeyPair, makeKeys, publicText } from './keys.js';
import { APPLICATION_ID, LAYOUT, TABLES } from './schema.js';
import { readTogether, transact, whenFree } from './transaction.js';
import { Writer } from './writer.js';

/**
 * What is removed is overwritten. The log is carried over into the database every 16 MB instead of 4: a commit has
 * to wait for it, and so fewer of them do.
 */
const UPKEEP = 'PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 4000';

export interface OpenedDatabase {
  database: Database;
  keys: KeyPair;
}

/** The trail's database, made where there was none at all. */
export async function openDatabase(files: AuditFiles, sync: 'normal' | 'full'): Promise<OpenedDatabase> {
  // A key gets its name after the first commit: where there is one, there is a trail. Asked before looking for it.
  const hasKey = existsSync(files.privateKey);
  if (hasKey && !existsSync(files.database)) throw lost(files, 'its database is gone');
  if (makeEmptyFile(files.database)) syncFolder(files.folder);
  const database = await Database.connect(files.database, 'write');
  try {
    const isEmpty = await whenFree(() => isFresh(database, files), files.folder);
    if (isEmpty && hasKey) throw lost(files, 'its database is empty');
    // Setting the journal changes a file, so only after it is known to be ours.
    await whenFree(() => database.exec('PRAGMA journal_mode = WAL'), files.folder);
    database.exec(`PRAGMA synchronous = ${sync === 'full' ? 'FULL' : 'NORMAL'}; ${UPKEEP}`);
    if (isEmpty) await create(database, files);
    return { database, keys: adoptKeys(files) };
  } catch (error) {
    database.close();
    throw translateError(error, files.folder);
  }
}

/** True for an empty database, false for a trail, also where another process is just making it; anything else is refused. */
export const isFresh = (database: Database, files: AuditFiles): boolean =>
  readTogether(database, () => looksFresh(database, files));

function looksFresh(database: Database, files: AuditFiles): boolean {
  const pragma = (name: string) =>
    Number(Object.values(database.prepare(`PRAGMA ${name}`).get() as object)[0]);
  const [application, layout] = [pragma('application_id'), pragma('user_version')];
  const tables = database.prepare('SELECT count(*) AS count FROM sqlite_master').get() as { count: number };
  if (application === 0 && layout === 0 && tables.count === 0) return true;
  const { folder } = files;
  if (application !== APPLICATION_ID)
    throw auditError('foreign', `The audit.db in ${folder} is the database of another program.`, { folder });
  if (layout !== LAYOUT)
    throw auditError('foreign', `The audit trail in ${folder} was written by another version of Pungi.`, {
      folder,
      layout,
    });
  return false;
}

async function create(database: Database, files: AuditFiles): Promise<void> {
  await transact(database, files.folder, () => {
    // Another process may have made it since.
    if (!looksFresh(database, files)) return;
    const { privateKey, publicKey } = makeKeys(files);
    database.exec(TABLES);
    database.prepare('INSERT INTO head (id, seq, hash, checkpoint) VALUES (1, 0, ?, 0)').run(NO_HASH);
    const writer = new Writer(database, privateKey);
    const details = { publicKey: publicText(publicKey) };
    writer.append([
      prepareRecord({ kind: 'server', client: 'pungi', token: null, data: { event: 'genesis', details } }),
    ]);
    writer.signHead();
  });
}

const lost = ({ folder }: AuditFiles, how: string) =>
  auditError('damaged', `There was an audit trail in ${folder}, but ${how}.`, { folder });
