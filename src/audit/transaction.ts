import { setTimeout as pause } from 'node:timers/promises';
import { isBusy, translateError } from './audit-error.js';
import type { Database } from './database.js';

/** How long another program may hold the lock before a write gives up. */
export const LOCK_WAIT_MS = 5000;

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
