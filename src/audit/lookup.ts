import type { Database } from './database.js';

/** Rows that one transaction copies: runs write in between. */
const AT_ONCE = 100;
export const LOOKUP_COLUMNS = [
  'seq',
  'time',
  'kind',
  'client',
  'client_name',
  'run_id',
  'sha256',
  'environment',
  'profile',
  'verdict',
  'lock',
];
const COLUMNS = LOOKUP_COLUMNS.join(', ');
const LAST = 'coalesce((SELECT max(seq) FROM lookup), 0)';

/** All entries, to be queried: by the indexes of the lookup, and by a look through the few that it does not have yet. */
export const EVERY_ENTRY = `(
  SELECT ${COLUMNS} FROM lookup UNION ALL SELECT ${COLUMNS} FROM entries WHERE seq > ${LAST}
)`;

/** Copies the oldest entries that the lookup does not have. Inside of a transaction; says whether more may be left. */
export function fillLookup(database: Database): boolean {
  const { changes } = database
    .prepare(
      `INSERT INTO lookup SELECT ${COLUMNS} FROM entries WHERE seq > ${LAST} ORDER BY seq LIMIT ${AT_ONCE}`,
    )
    .run();
  return Number(changes) === AT_ONCE;
}

/** The number of the last entry that the lookup has. */
export const lastLookedUp = (database: Database): number =>
  (database.prepare(`SELECT ${LAST} AS seq`).get() as { seq: number }).seq;
