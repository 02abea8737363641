import { setImmediate } from 'node:timers/promises';
import { prepareRecord } from './chain.js';
import type { Database } from './database.js';
import type { AuditFiles } from './folder.js';
import { LockTexts } from './lock-texts.js';
import { EVERY_ENTRY } from './lookup.js';
import { transact } from './transaction.js';
import type { Writer } from './writer.js';

/** Rows that one transaction removes: others write in between. */
const AT_ONCE = 2000;

export interface Pruning {
  before: Date;
  /** Who asks for it. */
  client: string;
}

export interface Pruned {
  removed: number;
}

/**
 * Removes the oldest entries, up to the first that is not older than `before`. That it happens is itself an
 * entry, written first; each step moves the signed cut, so that the chain is whole after every one of them.
 */
export async function pruneEntries(
  database: Database,
  { folder, locks }: AuditFiles,
  writer: Writer,
  wanted: Pruning,
): Promise<Pruned> {
  const last = await transact(database, folder, () => announce(database, writer, wanted));
  let removed = 0;
  for (let isMore = last > 0; isMore; ) {
    const step = await transact(database, folder, () => removeSome(database, writer, last));
    removed += step;
    isMore = step > 0;
    await setImmediate();
  }
  if (removed > 0) await transact(database, folder, () => forgetLocks(database, locks));
  return { removed };
}

/** The number of the last entry to remove; 0 where there is nothing to do. */
function announce(database: Database, writer: Writer, { before, client }: Pruning): number {
  const oldest = oldestBefore(database, before);
  if (oldest === undefined) return 0;
  const details = { before: before.toISOString(), from: oldest.first, through: oldest.last };
  writer.append([prepareRecord({ kind: 'server', client, token: null, data: { event: 'pruned', details } })]);
  return oldest.last;
}

/** Which entries are older, from the beginning up to the first that is not. */
function oldestBefore(database: Database, before: Date): { first: number; last: number } | undefined {
  const { first, newest } = database
    .prepare('SELECT min(seq) AS first, (SELECT max(seq) FROM entries) AS newest FROM entries')
    .get() as { first: number | null; newest: number | null };
  // In the order of numbers, not of time: clocks are set back, and only a beginning can be cut off.
  const kept = database
    .prepare('SELECT seq FROM entries WHERE time >= ? ORDER BY seq LIMIT 1')
    .get(before.getTime()) as { seq: number } | undefined;
  const last = kept === undefined ? newest : kept.seq - 1;
  return first === null || last === null || last < first ? undefined : { first, last };
}

/** How many entries pruning would remove. */
export function countOldest(database: Database, before: Date): number {
  const oldest = oldestBefore(database, before);
  return oldest === undefined ? 0 : oldest.last - oldest.first + 1;
}

/** Alone on the database, so that no other process is about to name one of them. */
function forgetLocks(database: Database, locks: string): void {
  const named = database.prepare(`SELECT 1 FROM ${EVERY_ENTRY} WHERE lock = ? LIMIT 1`);
  new LockTexts(locks).removeUnless((sha256) => named.get(sha256) !== undefined);
}

function removeSome(database: Database, writer: Writer, last: number): number {
  const rows = database
    .prepare('SELECT seq, hash FROM entries WHERE seq <= ? ORDER BY seq LIMIT ?')
    .all(last, AT_ONCE) as { seq: number; hash: string }[];
  const end = rows.at(-1);
  if (end === undefined) return 0;
  for (const table of ['entries', 'lookup', 'checkpoints'])
    database.prepare(`DELETE FROM ${table} WHERE seq <= ?`).run(end.seq);
  writer.signCut(end.seq, end.hash);
  return rows.length;
}
