import { pathToFileURL } from 'node:url';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { loadSqlite, type Statement } from './sqlite.js';

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
    database.exec(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}`);
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
