import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { loadSqlite, type Statement } from './sqlite.js';

/** SQLite's own waiting for a lock blocks the whole server, so it is short; the rest is waited for outside. */
export const BLOCKING_WAIT_MS = 5;

/** A connection that keeps its statements for their next use. */
export class Database {
  readonly #connection: DatabaseSyncInstance;
  readonly #statements = new Map<string, Statement>();

  static async connect(path: string, access: 'read' | 'write'): Promise<Database> {
    const { DatabaseSync } = await loadSqlite();
    const database = new Database(new DatabaseSync(path, { readOnly: access === 'read' }));
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
    this.#statements.clear();
    this.#connection.close();
  }
}
