import type { Database, Statement } from './database.js';
import type { Problems } from './problems.js';

/** Rows that one transaction copies, so that runs can write in between. */
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

/** All entries for queries: indexed ones from the lookup, and a scan of the few that it does not contain yet. */
export const EVERY_ENTRY = `(
  SELECT ${COLUMNS} FROM lookup UNION ALL SELECT ${COLUMNS} FROM entries WHERE seq > ${LAST}
)`;

/** Copies the oldest entries that the lookup lacks, inside a transaction. Returns whether more may be left. */
export function fillLookup(database: Database): boolean {
  const { changes } = database
    .prepare(
      `INSERT INTO lookup SELECT ${COLUMNS} FROM entries WHERE seq > ${LAST} ORDER BY seq LIMIT ${AT_ONCE}`,
    )
    .run();
  return Number(changes) === AT_ONCE;
}

/** The number of the last entry in the lookup. */
export const lastLookedUp = (database: Database): number =>
  (database.prepare(`SELECT ${LAST} AS seq`).get() as { seq: number }).seq;

const columnsOf = (table: string) => LOOKUP_COLUMNS.map((name) => `${table}.${name}`).join(', ');

/** Checks that the lookup agrees with the entries; the newest entries may not be in it yet. */
export class LookupCheck {
  readonly #database: Database;
  readonly #problems: Problems;
  readonly #last: number;
  readonly #compare: Statement;
  #found = 0;

  constructor(database: Database, problems: Problems) {
    this.#database = database;
    this.#problems = problems;
    this.#last = lastLookedUp(database);
    this.#compare = database.prepare(
      `SELECT (${columnsOf('lookup')}) IS (${columnsOf('entries')}) AS same
       FROM lookup JOIN entries USING (seq) WHERE lookup.seq = ?`,
    );
  }

  check(seq: number): void {
    if (seq > this.#last) return;
    const compared = this.#compare.get(seq) as { same: number } | undefined;
    if (compared === undefined)
      this.#problems.add(seq, `Entry ${seq} is hidden: the lookup of queries lacks it.`);
    else this.#found += 1;
    if (compared?.same === 0) this.#problems.add(seq, `Entry ${seq} differs from the lookup of queries.`);
  }

  /** Checks, after all entries, for rows of the lookup that have no entry. */
  finish(): void {
    const { count } = this.#database.prepare('SELECT count(*) AS count FROM lookup').get() as {
      count: number;
    };
    if (count === this.#found) return;
    const strays = this.#database
      .prepare('SELECT seq FROM lookup WHERE seq NOT IN (SELECT seq FROM entries) ORDER BY seq')
      .all() as { seq: number }[];
    const all = new Set(strays.map(({ seq }) => seq));
    // Consecutive missing entries are one problem, as elsewhere.
    for (const seq of all)
      if (!all.has(seq - 1))
        this.#problems.add(seq, `Entry ${seq} is missing: the lookup of queries has it.`);
  }
}
