import { existsSync, statSync } from 'node:fs';
import { syncFolder } from '../base/files.js';
import { auditError, isUnwritable, translateError } from './audit-error.js';
import { NO_HASH, prepareRecord } from './chain.js';
import { adoptKeys, type KeyPair, makeKeys, publicText } from './checkpoint.js';
import { Database, readTogether, transact, whenFree } from './database.js';
import { type AuditFiles, makeEmptyFile } from './folder.js';
import { foldAll, JOURNALS_TABLE, journalsIn } from './journal.js';
import { Writer } from './writer.js';

/**
 * Removed content is overwritten. The log is checkpointed every 16 MB instead of 4, because the commit that triggers
 * a checkpoint waits for it.
 */
const UPKEEP = 'PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 4000';

export interface OpenedDatabase {
  database: Database;
  keys: KeyPair;
}

/** Opens the trail's database and creates it if there is none. */
export async function openDatabase(files: AuditFiles, sync: 'normal' | 'full'): Promise<OpenedDatabase> {
  // The key gets its name after the first commit, so its existence proves a trail. Check it before the database.
  const hasKey = existsSync(files.privateKey);
  if (hasKey && !existsSync(files.database)) throw lost(files, 'its database is gone');
  if (makeEmptyFile(files.database)) syncFolder(files.folder);
  const database = await Database.connect(files.database, 'write');
  try {
    const isEmpty = await whenFree(() => isFresh(database, files), files.folder);
    if (isEmpty && hasKey) throw lost(files, 'its database is empty');
    // Setting the journal mode changes the file, so it happens after the file is known to be a trail.
    await whenFree(() => database.exec('PRAGMA journal_mode = WAL'), files.folder);
    database.exec(`PRAGMA synchronous = ${sync === 'full' ? 'FULL' : 'NORMAL'}; ${UPKEEP}`);
    if (isEmpty) await create(database, files);
    await whenFree(() => database.exec(JOURNALS_TABLE), files.folder);
    return { database, keys: adoptKeys(files) };
  } catch (error) {
    database.close();
    throw translateError(error, files.folder);
  }
}

/**
 * Returns true for an empty database and false for a trail, also while another process creates it; refuses anything
 * else.
 */
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
    // Another process may have created it meanwhile.
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

/** The file's header names the application ("PNGA") and the layout. */
const APPLICATION_ID = 0x504e4741;
const LAYOUT = 2;

const QUERIED = `
  seq INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  kind TEXT NOT NULL,
  client TEXT NOT NULL,
  client_name TEXT NOT NULL,
  run_id TEXT,
  sha256 TEXT,
  environment TEXT,
  profile TEXT,
  verdict TEXT,
  lock TEXT`;

/**
 * Every run waits for its entry, and each index would make it wait longer: entries have no index, and the lookup
 * follows a little later (lookup.ts). The body is the last column, so that reading other columns does not load its
 * overflow pages. Indexes end in time and, as all of SQLite's do, in the row's number: that is the order of results,
 * so no query sorts. Nearly all entries are runs, so a scan finds them quickly.
 */
export const TABLES = `
CREATE TABLE entries (${QUERIED},
  prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE TABLE lookup (${QUERIED}
) STRICT;
CREATE INDEX lookup_time ON lookup (time);
CREATE INDEX lookup_kind ON lookup (kind, time) WHERE kind <> 'run';
CREATE INDEX lookup_client ON lookup (client, time);
CREATE INDEX lookup_client_name ON lookup (client_name, time);
CREATE INDEX lookup_run ON lookup (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX lookup_sha256 ON lookup (sha256, time) WHERE sha256 IS NOT NULL;
CREATE INDEX lookup_environment ON lookup (environment, time) WHERE environment IS NOT NULL;
CREATE INDEX lookup_profile ON lookup (profile, time) WHERE profile IS NOT NULL;
CREATE INDEX lookup_verdict ON lookup (verdict, time) WHERE verdict IS NOT NULL;
CREATE INDEX lookup_lock ON lookup (lock) WHERE lock IS NOT NULL;
CREATE TABLE checkpoints (
  seq INTEGER NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('regular', 'cut')),
  hash TEXT NOT NULL,
  time TEXT NOT NULL,
  previous INTEGER NOT NULL,
  signature TEXT NOT NULL,
  PRIMARY KEY (seq, role)
) STRICT;
CREATE TABLE head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL,
  checkpoint INTEGER NOT NULL
) STRICT;
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${LAYOUT};
`;

/** Opens a trail that others may be writing. It changes nothing, but for entries in journals, which become part of the chain. */
export async function connectForReading(files: AuditFiles): Promise<Database> {
  const { folder } = files;
  if (!existsSync(files.database))
    throw auditError('unusable', `There is no audit trail in ${folder}.`, { folder });
  await foldForReading(files);
  try {
    return await connect(files, 'read');
  } catch (error) {
    if (!isUnwritable((error as Error).cause)) throw translateError(error, folder);
    if (hasLog(files))
      throw auditError(
        'unusable',
        `The audit trail in ${folder} was not closed, and reading it needs a writable folder: copy it to one.`,
        { folder },
        error,
      );
    return await connect(files, 'frozen');
  }
}

/** Whoever cannot write here reads the trail without the entries of the last moment. */
async function foldForReading(files: AuditFiles): Promise<void> {
  const { folder } = files;
  const { uid } = statSync(files.database);
  if (uid !== (process.getuid?.() ?? uid) || journalsIn(folder).length === 0) return;
  try {
    const database = await Database.connect(files.database, 'write');
    try {
      if (isFresh(database, files)) return;
      await whenFree(() => database.exec(JOURNALS_TABLE), folder);
      await transact(database, folder, () => foldAll(database, new Writer(database), folder));
    } finally {
      database.close();
    }
  } catch {
    // reading reports it
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

/** The latest entries are in SQLite's log until the trail is closed. */
const hasLog = ({ database }: AuditFiles) =>
  (statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
