import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';
import { isBusy, translateError } from './audit-error.js';
import type { Problems } from './problems.js';

type Sqlite = Pick<typeof import('@photostructure/sqlite'), 'DatabaseSync'>;

/** `iterate` is left out: early Node 22 and the package mishandle its lifetime and its errors. */
export type Statement = Pick<StatementSyncInstance, 'get' | 'all' | 'run'>;

/** SQLite's own wait for a lock blocks the whole server, so it is short; `whenFree` waits outside of SQLite. */
export const BLOCKING_WAIT_MS = 5;

/** A connection that caches its prepared statements. */
export class Database {
  readonly #connection: DatabaseSyncInstance;
  readonly #statements = new Map<string, Statement>();

  /** `frozen` reads without locks, from a read-only folder in which nothing can change. */
  static async connect(path: string, access: 'read' | 'write' | 'frozen'): Promise<Database> {
    const { DatabaseSync } = await loadSqlite();
    const place = access === 'frozen' ? `${pathToFileURL(path).href}?immutable=1` : path;
    const database = new Database(new DatabaseSync(place, { readOnly: access !== 'write' }));
    // SQLite sorts code and client names: they must not reach the shared folder for temporary files.
    database.exec(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}; PRAGMA temp_store = MEMORY`);
    return database;
  }

  private constructor(connection: DatabaseSyncInstance) {
    this.#connection = connection;
  }

  prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  exec(sql: string): void {
    this.#connection.exec(sql);
  }

  close(): void {
    // The package keeps the files open, without locks, until its statements are garbage-collected.
    this.#statements.clear();
    this.#connection.close();
  }
}

/** Yields rows from the newest down, one at a time: `statement` takes a number and finds the next row below it. */
export function* rowsDown<Row extends { seq: number }>(statement: Statement): Generator<Row, void> {
  const below = (seq: number) => statement.get(seq) as Row | undefined;
  for (let row = below(Number.MAX_SAFE_INTEGER); row !== undefined; row = below(row.seq)) yield row;
}

/** Loads Node's own SQLite, or the package with the same interface. */
async function loadSqlite(): Promise<Sqlite> {
  return builtIn() ?? (await import('@photostructure/sqlite'));
}

function builtIn(): Sqlite | undefined {
  // Loading it prints a warning that it is experimental; stderr belongs to the log.
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule?.('node:sqlite') as Sqlite | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** How long another program may hold the lock before a write gives up. */
const LOCK_WAIT_MS = 5000;

/**
 * Runs `work` in a transaction that excludes other writers. It is committed when the promise resolves, or rolled
 * back.
 */
export const transact = <T>(database: Database, folder: string, work: () => T): Promise<T> =>
  // There is no await inside of the transaction: other callers use the same connection.
  whenFree(() => transactNow(database, work), folder);

/** The same, at once: throws if another program holds the lock. */
export function transactNow<T>(database: Database, work: () => T): T {
  database.prepare('BEGIN IMMEDIATE').run();
  try {
    const result = work();
    database.prepare('COMMIT').run();
    return result;
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** Reads several rows from one snapshot of the database. */
export function readTogether<T>(database: Database, read: () => T): T {
  database.prepare('BEGIN').run();
  try {
    return read();
  } finally {
    rollBack(database);
  }
}

/** Retries until no other program holds the lock. */
export async function whenFree<T>(attempt: () => T, folder: string): Promise<T> {
  const deadline = performance.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw translateError(error, folder);
    }
    // A random delay, so that two waiting processes do not collide again and again.
    await pause(1 + Math.random() * 4);
  }
}

function rollBack(database: Database): void {
  try {
    database.prepare('ROLLBACK').run();
  } catch {
    // SQLite rolls back by itself after some failures, such as a full disk.
  }
}

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
