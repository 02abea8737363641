import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';
import { isBusy, translateError } from './audit-error.js';

type Sqlite = Pick<typeof import('@photostructure/sqlite'), 'DatabaseSync'>;

/** Without `iterate`: neither early Node 22 nor the package gets its lifetime and its errors right. */
export type Statement = Pick<StatementSyncInstance, 'get' | 'all' | 'run'>;

/** SQLite's own waiting for a lock blocks the whole server, so it is short; the rest is waited for outside. */
export const BLOCKING_WAIT_MS = 5;

/** A connection that keeps its statements for their next use. */
export class Database {
  readonly #connection: DatabaseSyncInstance;
  readonly #statements = new Map<string, Statement>();

  /** `frozen`: read without any lock, from where nothing can be written and so nothing can change. */
  static async connect(path: string, access: 'read' | 'write' | 'frozen'): Promise<Database> {
    const { DatabaseSync } = await loadSqlite();
    const place = access === 'frozen' ? `${pathToFileURL(path).href}?immutable=1` : path;
    const database = new Database(new DatabaseSync(place, { readOnly: access !== 'write' }));
    // What it sorts is code and who ran it: none of that in the folder for everybody's temporary files.
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
    // Let go: the package keeps the files open, though without locks, until its statements are collected.
    this.#statements.clear();
    this.#connection.close();
  }
}

/** Rows from the newest down, one at a time: `statement` takes a number and finds the next one below it. */
export function* rowsDown<Row extends { seq: number }>(statement: Statement): Generator<Row, void> {
  const below = (seq: number) => statement.get(seq) as Row | undefined;
  for (let row = below(Number.MAX_SAFE_INTEGER); row !== undefined; row = below(row.seq)) yield row;
}

/** Node's own SQLite where it has one, else the package of the same interface. */
async function loadSqlite(): Promise<Sqlite> {
  return builtIn() ?? (await import('@photostructure/sqlite'));
}

function builtIn(): Sqlite | undefined {
  // Loading it prints that it is experimental, on the stderr that belongs to the log.
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

/** Runs `work` alone on the database; what it did is committed when the promise resolves, or never happened. */
export const transact = <T>(database: Database, folder: string, work: () => T): Promise<T> =>
  // From beginning to end in one breath: others use the same connection.
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

/** Reads several things as they are at one moment, whatever others write meanwhile. */
export function readTogether<T>(database: Database, read: () => T): T {
  database.prepare('BEGIN').run();
  try {
    return read();
  } finally {
    rollBack(database);
  }
}

/** Tries until no other program is in the way. */
export async function whenFree<T>(attempt: () => T, folder: string): Promise<T> {
  const deadline = performance.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw translateError(error, folder);
    }
    // Of different length, so that two that wait do not keep meeting.
    await pause(1 + Math.random() * 4);
  }
}

function rollBack(database: Database): void {
  try {
    database.prepare('ROLLBACK').run();
  } catch {
    // SQLite has rolled back by itself after some failures, a full disk among them.
  }
}
