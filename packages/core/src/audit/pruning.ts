import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { AuditSettings } from '../contract/audit.js';
import { auditError } from './audit-error.js';
import { prepareRecord } from './chain.js';
import { type Database, EVERY_ENTRY, transact } from './database.js';
import type { AuditFiles } from './folder.js';
import { foldAll } from './journal.js';
import { LockTexts } from './lock-texts.js';
import type { Writer } from './writer.js';

/** The most that one transaction removes, so that others can write and the server can answer in between. */
const MOST_ROWS = 1000;
const MOST_BYTES = 2 * 1024 * 1024;
/** The share of all entries that one rotation drops. */
const SEGMENT = 1 / 8;

interface Parts {
  database: Database;
  files: AuditFiles;
  writer: Writer;
}

/** The oldest entries, from the first to the last that is removed. */
interface Range {
  first: number;
  last: number;
}

interface Pruning {
  before: Date;
  /** The client that requested it. */
  client: string;
}

export interface Pruned {
  removed: number;
}

/**
 * Removes the oldest entries, up to the first that is not older than `before`. The removal itself is recorded first.
 * Each step moves the signed cut, so the chain is valid after every step.
 */
export async function pruneEntries(parts: Parts, { before, client }: Pruning): Promise<Pruned> {
  const { database, files, writer } = parts;
  const last = await transact(database, files.folder, () => {
    foldAll(database, writer, files.folder);
    const range = oldestBefore(database, before);
    return range === undefined ? 0 : announce(writer, range, { before: before.toISOString() }, client);
  });
  return { removed: last === 0 ? 0 : await removeThrough(parts, last) };
}

/**
 * Drops the oldest entries until the trail is well below its quota, with room for `bytes`. It first finishes a
 * removal that another server announced and did not complete, so that two servers do not drop two segments instead of
 * one.
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

/** Records that these entries are removed; returns the number of the last. */
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
  if (removed > 0) await transact(database, files.folder, () => forgetLocks({ database, files, writer }));
  return removed;
}

function numbers(database: Database): { first: number | null; newest: number | null } {
  return database.prepare('SELECT min(seq) AS first, max(seq) AS newest FROM entries').get() as {
    first: number | null;
    newest: number | null;
  };
}

/** Returns the entries before the first one that is not older. */
function oldestBefore(database: Database, before: Date): Range | undefined {
  const { first, newest } = numbers(database);
  // Ordered by number, not by time: clocks can be set back, and only the beginning of the chain can be cut off.
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

/** Returns the last entry that the latest announced removal covers, or 0. */
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

/** Runs inside a transaction, so that no other process is about to name one of them. */
function forgetLocks({ database, files, writer }: Parts): void {
  foldAll(database, writer, files.folder);
  const named = database.prepare(`SELECT 1 FROM ${EVERY_ENTRY} WHERE lock = ? LIMIT 1`);
  new LockTexts(files.locks).removeUnless((sha256) => named.get(sha256) !== undefined);
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

/** Bytes that may be written between two measurements: measuring for every entry would cost more than writing it. */
const MEASURE_AFTER_BYTES = 256 * 1024;
/** Above SOFT of the quota, old entries are dropped until LOW is reached. */
const SOFT = 7 / 8;
const LOW = 3 / 4;
/** Room that admitted runs may still use if entries are not dropped: the largest entry, or a share of the quota. */
const RESERVE_BYTES = 8 * 1024 * 1024;
const RESERVE = 1 / 16;
const MOST_RESERVE = 1 / 4;
/** SQLite checkpoints its log every 16 MB; the log grows larger only while another program reads. */
const MOST_LOG_BYTES = 64 * 1024 * 1024;

type Room = 'enough' | 'tight' | 'none';

/** The disk space that a trail may use, and the policy when it is full. Other servers may write the same trail. */
export class Quota {
  readonly maxBytes: number;
  readonly whenFull: 'rotate' | 'refuse';
  readonly #database: Database;
  readonly #files: AuditFiles;
  #unmeasured = Number.POSITIVE_INFINITY;
  #room: Room = 'enough';

  constructor(database: Database, files: AuditFiles, { maxBytes, whenFull }: AuditSettings) {
    this.#database = database;
    this.#files = files;
    this.maxBytes = maxBytes ?? Number.POSITIVE_INFINITY;
    this.whenFull = whenFull ?? 'rotate';
  }

  /** Returns the used bytes: the database reuses its free pages before it grows. */
  usedBytes(): number {
    const pragma = (name: string) =>
      Number(Object.values(this.#database.prepare(`PRAGMA ${name}`).get() as object)[0]);
    return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size') + this.#lockBytes();
  }

  /** Returns whether there is room for `bytes` more. Measures again only after enough was written. */
  roomFor(bytes: number): Room {
    this.#unmeasured += bytes;
    if (this.#unmeasured < MEASURE_AFTER_BYTES && this.#room === 'enough') return 'enough';
    this.#unmeasured = 0;
    const used = this.usedBytes() + bytes;
    const isOver = used > this.maxBytes || this.#logBytes() > MOST_LOG_BYTES + this.maxBytes / 2;
    this.#room = isOver ? 'none' : used > this.#soft() ? 'tight' : 'enough';
    return this.#room;
  }

  /** Returns whether old entries must go to make room for `bytes` and some more. */
  isAbove(bytes: number): boolean {
    return this.usedBytes() > Math.min(LOW * this.maxBytes, this.maxBytes - bytes);
  }

  #soft(): number {
    if (this.whenFull === 'rotate') return SOFT * this.maxBytes;
    const reserve = Math.max(RESERVE * this.maxBytes, Math.min(RESERVE_BYTES, MOST_RESERVE * this.maxBytes));
    return this.maxBytes - reserve;
  }

  full(): Error {
    const { folder } = this.#files;
    const most = Math.round(this.maxBytes / 1024 / 1024);
    return auditError('full', `The audit trail in ${folder} is full: it takes ${most} MB (AUDIT_MAX_MB).`, {
      folder,
    });
  }

  #lockBytes(): number {
    const { locks } = this.#files;
    return namesIn(locks).reduce((sum, name) => sum + sizeOf(join(locks, name)), 0);
  }

  #logBytes(): number {
    return sizeOf(`${this.#files.database}-wal`);
  }
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // no lock file was kept yet
  }
}
