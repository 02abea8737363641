import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditSettings } from '../contract/audit.js';
import { auditError } from './audit-error.js';
import type { Database } from './database.js';
import type { AuditFiles } from './folder.js';

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
