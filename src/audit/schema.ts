/** Says in the file's header whose database it is ("PNGA"), and in which layout. */
export const APPLICATION_ID = 0x504e4741;
export const LAYOUT = 2;

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
 * Every run waits until its entry is written, and each index would make it wait longer: so entries have none, and the
 * lookup follows a little later (lookup.ts). The body comes last, so that its overflow pages are not read for a look at
 * the other columns. Indexes end in time and, as all of SQLite's do, in the row's number: that is the order of answers,
 * and no query sorts. Nearly all entries are runs, and a look through all entries finds them at once.
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
