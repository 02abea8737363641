/** Says in the file's header whose database it is ("PNGA"), and in which layout. */
export const APPLICATION_ID = 0x504e4741;
export const LAYOUT = 1;

/**
 * The body comes last, so that its overflow pages are not read for a look at the other columns. Indexes end in
 * time and, as all of SQLite's do, in the row's number: that is the order of answers, and no query sorts. Nearly
 * all entries are runs, each waits for its indexes, and a look through all entries finds runs at once.
 */
export const TABLES = `
CREATE TABLE entries (
  seq INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  kind TEXT NOT NULL,
  client TEXT NOT NULL,
  run_id TEXT,
  sha256 TEXT,
  environment TEXT,
  verdict TEXT,
  lock TEXT,
  prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX entries_time ON entries (time);
CREATE INDEX entries_kind ON entries (kind, time) WHERE kind <> 'run';
CREATE INDEX entries_client ON entries (client, time);
CREATE INDEX entries_run ON entries (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX entries_sha256 ON entries (sha256, time) WHERE sha256 IS NOT NULL;
CREATE INDEX entries_environment ON entries (environment, time) WHERE environment IS NOT NULL;
CREATE INDEX entries_verdict ON entries (verdict, time) WHERE verdict IS NOT NULL;
CREATE INDEX entries_lock ON entries (lock) WHERE lock IS NOT NULL;
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
