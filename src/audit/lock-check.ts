import type { Database } from './database.js';
import { LockTexts } from './lock-texts.js';
import { EVERY_ENTRY } from './lookup.js';
import type { Problems } from './problems.js';

interface Named {
  lock: string;
  seq: number;
}

/**
 * Checks the lock files that entries name. Outside of any transaction: pruning removes entries first, so a file that
 * is missing while an entry still names it is missing.
 */
export function checkLocks(database: Database, folder: string, problems: Problems): void {
  const texts = new LockTexts(folder);
  const named = database
    .prepare(`SELECT lock, max(seq) AS seq FROM ${EVERY_ENTRY} WHERE lock IS NOT NULL GROUP BY lock`)
    .all() as unknown as Named[];
  const newest = database.prepare(`SELECT max(seq) AS seq FROM ${EVERY_ENTRY} WHERE lock = ?`);
  for (const { lock } of named) {
    const problem = problemOf(texts, lock);
    const { seq } = newest.get(lock) as { seq: number | null };
    if (problem !== undefined && seq !== null) problems.add(seq, `Entry ${seq}: ${problem}`);
  }
}

/** What stands in the place of a hash may have been forged, and is then no name of a file. */
function problemOf(texts: LockTexts, lock: string): string | undefined {
  try {
    return texts.problemOf(lock);
  } catch (error) {
    return (error as Error).message;
  }
}
