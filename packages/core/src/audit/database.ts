import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';
import { isBusy, translateError } from './audit-error.js';

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
  whenFree(() => {
    database.prepare('BEGIN IMMEDIATE').run();
    try {
      const result = work();
      database.prepare('COMMIT').run();
      return result;
    } catch (error) {
      rollBack(database);
      throw error;
    }
  }, folder);

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
