import { setImmediate } from 'node:timers/promises';
import { prepareRecord } from './chain.js';
import { type Database, transact } from './database.js';
import type { AuditFiles } from './folder.js';
import { LockTexts } from './lock-texts.js';
import { EVERY_ENTRY } from './lookup.js';
import type { Quota } from './quota.js';
import type { Writer } from './writer.js';

/** What one transaction removes at most: others write in between, and the server answers. */
const MOST_ROWS = 1000;
const MOST_BYTES = 2 * 1024 * 1024;
/** The part of all entries that one rotation drops. */
const SEGMENT = 1 / 8;

interface Parts {
  database: Database;
  files: AuditFiles;
  writer: Writer;
}

/** The oldest entries, from the first to the last to go. */
interface Range {
  first: number;
  last: number;
}

interface Pruning {
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
export async function pruneEntries(parts: Parts, { before, client }: Pruning): Promise<Pruned> {
  const { database, files, writer } = parts;
  const last = await transact(database, files.folder, () => {
    const range = oldestBefore(database, before);
    return range === undefined ? 0 : announce(writer, range, { before: before.toISOString() }, client);
  });
  return { removed: last === 0 ? 0 : await removeThrough(parts, last) };
}

/**
 * Drops the oldest entries until the trail is well below its quota, with room for so many bytes. What another server announced and has not finished, or
 * was killed in, is finished first: two servers never drop two segments for one.
 */
export async function rotate(parts: Parts, quota: Quota, bytes: number): Promise<Pruned> {
  const { database, files, writer } = parts;
  let removed = 0;
  for (;;) {
    const last = await transact(database, files.folder, () => {
      if (!quota.isAbove(bytes)) return 0;
      const segment = oldestSegment(database);
      if (segment === undefined) return 0;
      const announced = lastAnnounced(database);
      if (announced >= segment.first) return Math.min(announced, segment.newest - 1);
      return announce(writer, segment, { quotaBytes: quota.maxBytes }, 'pungi');
    });
    if (last === 0) return { removed };
    removed += await removeThrough(parts, last);
  }
}

/** Writes that these entries go; gives back the number of the last. */
function announce(writer: Writer, { first, last }: Range, why: object, client: string): number {
  const data = { event: 'pruned' as const, details: { ...why, from: first, through: last } };
  writer.append([prepareRecord({ kind: 'server', client, token: null, data })]);
  return last;
}

async function removeThrough({ database, files, writer }: Parts, last: number): Promise<number> {
  let removed = 0;
  for (let isMore = true; isMore; ) {
    const step = await transact(database, files.folder, () => removeSome(database, writer, last));
    removed += step;
    isMore = step > 0;
    await setImmediate();
  }
  if (removed > 0) await transact(database, files.folder, () => forgetLocks(database, files.locks));
  return removed;
}

function numbers(database: Database): { first: number | null; newest: number | null } {
  return database.prepare('SELECT min(seq) AS first, max(seq) AS newest FROM entries').get() as {
    first: number | null;
    newest: number | null;
  };
}

/** Which entries are older, from the beginning up to the first that is not. */
function oldestBefore(database: Database, before: Date): Range | undefined {
  const { first, newest } = numbers(database);
  // In the order of numbers, not of time: clocks are set back, and only a beginning can be cut off.
  const kept = database
    .prepare('SELECT seq FROM entries WHERE time >= ? ORDER BY seq LIMIT 1')
    .get(before.getTime()) as { seq: number } | undefined;
  const last = kept === undefined ? newest : kept.seq - 1;
  return first === null || last === null || last < first ? undefined : { first, last };
}

/** The newest entry always stays. */
function oldestSegment(database: Database): (Range & { newest: number }) | undefined {
  const { first, newest } = numbers(database);
  if (first === null || newest === null || first >= newest) return undefined;
  const last = Math.min(newest - 1, first + Math.ceil((newest - first) * SEGMENT) - 1);
  return { first, last, newest };
}

/** How far the entries go of which the trail says last that they are removed; 0 where it says so of none. */
function lastAnnounced(database: Database): number {
  const row = database
    .prepare(
      `SELECT json_extract(body, '$.data.details.through') AS through FROM entries
       WHERE seq IN (SELECT seq FROM ${EVERY_ENTRY} WHERE kind = 'server' ORDER BY time DESC, seq DESC LIMIT 1000)
       AND json_extract(body, '$.data.event') = 'pruned' ORDER BY seq DESC LIMIT 1`,
    )
    .get() as { through: number | null } | undefined;
  return row?.through ?? 0;
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
    .prepare('SELECT seq, hash, octet_length(body) AS bytes FROM entries WHERE seq <= ? ORDER BY seq LIMIT ?')
    .all(last, MOST_ROWS) as { seq: number; hash: string; bytes: number }[];
  let bytes = 0;
  const tooMuch = rows.findIndex((row) => {
    bytes += row.bytes;
    return bytes > MOST_BYTES;
  });
  const step = tooMuch < 0 ? rows : rows.slice(0, Math.max(1, tooMuch));
  const end = step.at(-1);
  if (end === undefined) return 0;
  for (const table of ['entries', 'lookup', 'checkpoints'])
    database.prepare(`DELETE FROM ${table} WHERE seq <= ?`).run(end.seq);
  writer.signCut(end.seq, end.hash);
  return step.length;
}
