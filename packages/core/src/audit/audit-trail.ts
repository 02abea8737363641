import { statfsSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Logger } from '../base/logger.js';
import type {
  AuditEntry,
  AuditHead,
  AuditQuery,
  AuditRecord,
  AuditSettings,
  AuditVerification,
  EnvironmentLock,
} from '../contract/audit.js';
import { auditError, diskFull, isBusy, translateError } from './audit-error.js';
import { type PreparedRecord, prepareRecord, redact } from './chain.js';
import { type Database, fillLookup, transactNow, whenFree } from './database.js';
import { type AuditFiles, filesIn, makePrivate } from './folder.js';
import { adoptAbandoned, foldAll, Journal, journalsIn } from './journal.js';
import { LockTexts } from './lock-texts.js';
import { type OpenedDatabase, openDatabase } from './open-database.js';
import { type Pruned, pruneEntries, Quota, rotate } from './pruning.js';
import { TrailReader } from './trail-reader.js';
import { SharedCommits, Writer } from './writer.js';

/** The chain and the indexes of queries follow the journal a moment later, so that no run waits for them. */
const FOLD_AFTER_MS = 500;
/** With so many bytes in the journal, the next turn of the event loop folds them, so that no run has to. */
const FOLD_AT_BYTES = 32 * 1024;
/** An entry needs a few pages of the database. */
const LEAST_FREE_BYTES = 64 * 1024;
const LOOK_AGAIN_MS = 100;
const SIGN_AFTER_ENTRIES = 1000;
const SIGN_AFTER_MS = 60_000;
const PRUNE_EVERY_MS = 60 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

/** Returns infinity for a folder that is gone, which the commit reports. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** A hash chain of records that several servers can write and anybody can verify. */
export class AuditTrail {
  readonly #settings: AuditSettings;
  readonly #logger: Logger;
  readonly #files: AuditFiles;
  readonly #database: Database;
  readonly #writer: Writer;
  readonly #locks: LockTexts;
  readonly #reader: TrailReader;
  readonly #quota: Quota;
  /** Inode of the open database file: the path may later name another file, or none. */
  readonly #inode: number;
  readonly #commits = new SharedCommits<PreparedRecord, AuditHead>(
    (records) => this.#commit(records),
    ({ bytes }) => bytes,
  );
  readonly #journal: Journal;
  /** The texts that entries in the journal name. */
  readonly #journalLocks = new Map<string, EnvironmentLock>();
  /** The database could not take what is in the journal; the next entry reports why. */
  #isBehind = false;
  /** When the disk was last seen to have room. */
  #sawRoomAt = Number.NEGATIVE_INFINITY;
  #folding: NodeJS.Timeout | undefined;
  #isFoldingNext = false;
  #signing: NodeJS.Timeout | undefined;
  #pruning: NodeJS.Timeout | undefined;
  /** Folding, signing and pruning run one after the other. */
  #upkeep: Promise<unknown> = Promise.resolve();
  #rotating: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  static async open(settings: AuditSettings, logger: Logger): Promise<AuditTrail> {
    try {
      makePrivate(settings.folder);
      const trail = new AuditTrail(
        settings,
        logger,
        await openDatabase(filesIn(settings.folder), settings.sync),
      );
      await trail.#adopt();
      return trail;
    } catch (error) {
      throw translateError(error, settings.folder);
    }
  }

  private constructor(settings: AuditSettings, logger: Logger, { database, keys }: OpenedDatabase) {
    this.#settings = settings;
    this.#logger = logger;
    this.#files = filesIn(settings.folder);
    this.#database = database;
    this.#writer = new Writer(database, keys.privateKey);
    this.#locks = new LockTexts(this.#files.locks);
    this.#reader = new TrailReader(database, this.#files);
    this.#quota = new Quota(database, this.#files, settings);
    this.#inode = statSync(this.#files.database).ino;
    this.#journal = new Journal(settings.folder);
    this.#foldSoon(); // the lookup of a trail that was not closed may be incomplete
    if (settings.retentionDays !== null) this.#keepRetention(settings.retentionDays);
    if (this.#quota.whenFull === 'rotate' && this.#quota.roomFor(0) !== 'enough')
      this.#rotating = this.#rotate(0);
  }

  /** Throws if a run that starts now could not be recorded because the trail, or its disk, is full. */
  refuseIfFull(): void {
    const { folder } = this.#settings;
    const now = performance.now();
    // A disk that fills up meanwhile is found when the run is recorded.
    if (now - this.#sawRoomAt > LOOK_AGAIN_MS) {
      if (freeBytes(folder) < LEAST_FREE_BYTES) throw diskFull(folder);
      this.#sawRoomAt = now;
    }
    if (this.#quota.whenFull === 'refuse' && this.#quota.roomFor(0) !== 'enough') throw this.#quota.full();
  }

  /** Resolves when the entry is committed. If it rejects, the entry is not in the trail. */
  async record(record: AuditRecord, lock: EnvironmentLock | null = null): Promise<AuditHead> {
    this.#refuseIfClosed();
    return this.#commits.add(prepareRecord(this.#settings.storeCode ? record : redact(record), lock));
  }

  /**
   * Resolves when nothing but a failure of the machine can lose the entry, which gets its number a moment later. If it
   * rejects, the entry is not in the trail.
   */
  async note(record: AuditRecord, lock: EnvironmentLock | null = null): Promise<void> {
    this.#refuseIfClosed();
    const kept = this.#settings.storeCode ? record : redact(record);
    if (!this.#putIntoJournal(kept, lock)) await this.#commits.add(prepareRecord(kept, lock));
  }

  list(query: AuditQuery = {}): AuditEntry[] {
    this.#refuseIfClosed();
    this.#foldNow();
    return this.#reader.list(query);
  }

  get(which: number | string): AuditEntry | undefined {
    this.#refuseIfClosed();
    this.#foldNow();
    return this.#reader.get(which);
  }

  export(query: AuditQuery = {}): AsyncIterable<string> {
    this.#refuseIfClosed();
    this.#foldNow();
    return this.#reader.export(query);
  }

  lockText(sha256: string): string {
    return this.#reader.lockText(sha256);
  }

  verify(): Promise<AuditVerification> {
    return this.#reader.verify();
  }

  /** Removes entries older than `before`. The rest can still be verified, from a signed cut on. */
  prune(before: Date, client = 'pungi'): Promise<Pruned> {
    this.#refuseIfClosed();
    return this.#keepUp(() => pruneEntries(this.#parts(), { before, client }));
  }

  /** Returns the space of removed entries to the disk. Blocks all other writes meanwhile. */
  compact(): Promise<void> {
    this.#refuseIfClosed();
    return this.#keepUp(() => whenFree(() => this.#database.exec('VACUUM'), this.#settings.folder));
  }

  /** Commits pending records and signs the newest entry. */
  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    clearTimeout(this.#folding);
    clearTimeout(this.#signing);
    clearInterval(this.#pruning);
    await this.#commits.settled();
    await this.#upkeep;
    try {
      await this.#fold();
      await this.#transact(() => this.#writer.signHead());
      // Moves the log into audit.db, so that a copy of this one file is the whole trail.
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      this.#journal.close();
      this.#database.close();
    }
  }

  /** Returns false if the entry must go into the database itself. */
  #putIntoJournal(record: AuditRecord, lock: EnvironmentLock | null): boolean {
    const { folder, sync } = this.#settings;
    if (sync === 'full' || this.#isBehind || this.#quota.roomFor(0) !== 'enough') return false;
    try {
      if (lock !== null) this.#locks.keep(lock);
      if (!this.#journal.append(record)) return false;
    } catch (error) {
      this.#refuseIfGone();
      throw translateError(error, folder);
    }
    if (lock !== null) this.#journalLocks.set(lock.sha256, lock);
    this.#recorded();
    return true;
  }

  async #commit(records: PreparedRecord[]): Promise<AuditHead[]> {
    const bytes = records.reduce((sum, one) => sum + one.bytes, this.#journal.bytes);
    await this.#makeRoom(bytes);
    const recorded = await this.#transact(() => {
      for (const { lock } of records) if (lock !== null) this.#locks.keep(lock);
      return this.#writer.append(records).map(({ seq, hash }) => ({ seq, hash }));
    });
    this.#recorded();
    return recorded;
  }

  #recorded(): void {
    if (this.#closed !== undefined) return;
    this.#foldSoon();
    this.#signing ??= setTimeout(() => this.#sign(), SIGN_AFTER_MS).unref();
  }

  #transact<T>(work: () => T): Promise<T> {
    return whenFree(() => this.#transactNow(work), this.#settings.folder);
  }

  /** Every transaction begins with what is in the journal, so that entries stay in their order. */
  #transactNow<T>(work: () => T): T {
    const result = transactNow(this.#database, () => {
      this.#refuseIfGone();
      for (const lock of this.#journalLocks.values()) this.#locks.keep(lock);
      this.#journal.fold(this.#database, this.#writer);
      const worked = work();
      const { seq, checkpoint } = this.#writer.head();
      if (seq - checkpoint >= SIGN_AFTER_ENTRIES) this.#writer.signHead();
      return worked;
    });
    this.#journal.clear();
    this.#journalLocks.clear();
    this.#isBehind = false;
    return result;
  }

  /** Another program may hold the lock: then the entries of the last moment come later. */
  #foldNow(): void {
    if (this.#journal.bytes === 0) return;
    try {
      this.#transactNow(() => {});
    } catch (error) {
      if (!isBusy(error)) throw translateError(error, this.#settings.folder);
    }
  }

  /** Takes over what processes that were killed left in their journals. */
  async #adopt(): Promise<void> {
    const { folder } = this.#settings;
    if (journalsIn(folder).length > 0)
      await this.#transact(() => foldAll(this.#database, this.#writer, folder));
    await adoptAbandoned(folder, (fold) => this.#transact(() => fold(this.#database, this.#writer)));
  }

  /** Drops old entries before the trail is full; a writer that is faster than that waits. */
  async #makeRoom(bytes: number): Promise<void> {
    const room = this.#quota.roomFor(bytes);
    if (room === 'enough') return;
    if (this.#quota.whenFull === 'rotate') this.#rotating ??= this.#rotate(bytes);
    if (room === 'tight') return;
    await this.#rotating;
    if (this.#quota.roomFor(bytes) !== 'none') return;
    // The rotation that just ended did not know how many bytes this commit needs.
    if (this.#quota.whenFull === 'rotate') await this.#rotate(bytes);
    if (this.#quota.roomFor(bytes) === 'none') throw this.#quota.full();
  }

  async #rotate(bytes: number): Promise<void> {
    try {
      const { removed } = await this.#keepUp(() => rotate(this.#parts(), this.#quota, bytes));
      if (removed > 0)
        this.#logger.info('The oldest audit entries were dropped to keep to AUDIT_MAX_MB.', { removed });
    } catch (error) {
      this.#logger.error('Old audit entries could not be dropped.', { error: String(error) });
    } finally {
      this.#rotating = undefined;
    }
  }

  #parts() {
    return { database: this.#database, files: this.#files, writer: this.#writer };
  }

  #foldSoon(): void {
    const isUrgent = this.#journal.bytes > FOLD_AT_BYTES;
    if (this.#folding !== undefined && (!isUrgent || this.#isFoldingNext)) return;
    clearTimeout(this.#folding);
    this.#isFoldingNext = isUrgent;
    this.#folding = setTimeout(
      () => {
        this.#folding = undefined;
        // If it fails, queries scan the entries that the lookup lacks, and the next entry tries again.
        this.#keepUp(() => this.#fold()).catch(() => {
          this.#isBehind = true;
        });
      },
      isUrgent ? 0 : FOLD_AFTER_MS,
    ).unref();
  }

  async #fold(): Promise<void> {
    // What was recorded is kept, even if the trail is full by now.
    await this.#makeRoom(this.#journal.bytes).catch(() => {});
    while (await this.#transact(() => fillLookup(this.#database))) await setImmediate();
  }

  async #sign(): Promise<void> {
    this.#signing = undefined;
    try {
      await this.#keepUp(() => this.#transact(() => this.#writer.signHead()));
      this.#journal.wipe();
      await this.#keepUp(() => this.#adopt());
    } catch (error) {
      this.#logger.error('The audit trail could not be signed; the next entry tries again.', {
        error: String(error),
      });
    }
  }

  #keepUp<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#upkeep.then(work);
    this.#upkeep = done.catch(() => {});
    return done;
  }

  #keepRetention(days: number): void {
    const prune = () =>
      this.prune(new Date(Date.now() - days * DAY_MS)).then(
        ({ removed }) =>
          removed > 0 && this.#logger.info('Old audit entries were removed.', { removed, days }),
        (error) => this.#logger.error('Old audit entries could not be removed.', { error: String(error) }),
      );
    this.#pruning = setInterval(prune, PRUNE_EVERY_MS).unref();
    prune();
  }

  #refuseIfClosed(): void {
    if (this.#closed !== undefined) throw auditError('closed', 'The audit trail is closed.');
  }

  /** SQLite keeps writing to a removed file, and the entries would be lost with it. */
  #refuseIfGone(): void {
    const { database, folder } = this.#files;
    if (statSync(database, { throwIfNoEntry: false })?.ino !== this.#inode)
      throw auditError('gone', `The audit trail in ${folder} was removed or replaced while in use.`, {
        folder,
      });
  }
}
