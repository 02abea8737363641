import { statSync } from 'node:fs';
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
import { auditError, translateError } from './audit-error.js';
import { type PreparedRecord, prepareRecord, redact } from './chain.js';
import { type Database, fillLookup, transact, whenFree } from './database.js';
import { type AuditFiles, filesIn, makePrivate } from './folder.js';
import { LockTexts } from './lock-texts.js';
import { type OpenedDatabase, openDatabase } from './open-database.js';
import { type Pruned, pruneEntries, Quota, rotate } from './pruning.js';
import { TrailReader } from './trail-reader.js';
import { SharedCommits, Writer } from './writer.js';

/** The lookup is filled a moment after a commit, so that no run waits for the indexes of queries. */
const LOOKUP_AFTER_MS = 50;
const SIGN_AFTER_ENTRIES = 1000;
const SIGN_AFTER_MS = 60_000;
const PRUNE_EVERY_MS = 60 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

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
  #filling: NodeJS.Timeout | undefined;
  #signing: NodeJS.Timeout | undefined;
  #pruning: NodeJS.Timeout | undefined;
  /** Filling the lookup, signing and pruning run one after the other. */
  #upkeep: Promise<unknown> = Promise.resolve();
  #rotating: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  static async open(settings: AuditSettings, logger: Logger): Promise<AuditTrail> {
    try {
      makePrivate(settings.folder);
      return new AuditTrail(settings, logger, await openDatabase(filesIn(settings.folder), settings.sync));
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
    this.#fillSoon(); // the lookup of a trail that was not closed may be incomplete
    if (settings.retentionDays !== null) this.#keepRetention(settings.retentionDays);
    if (this.#quota.whenFull === 'rotate' && this.#quota.roomFor(0) !== 'enough')
      this.#rotating = this.#rotate(0);
  }

  /** Throws if a run that starts now could not be recorded because the trail is full. */
  refuseIfFull(): void {
    if (this.#quota.whenFull === 'refuse' && this.#quota.roomFor(0) !== 'enough') throw this.#quota.full();
  }

  /** Resolves when the entry is committed. If it rejects, the entry is not in the trail. */
  async record(record: AuditRecord, lock: EnvironmentLock | null = null): Promise<AuditHead> {
    this.#refuseIfClosed();
    return this.#commits.add(prepareRecord(this.#settings.storeCode ? record : redact(record), lock));
  }

  list(query: AuditQuery = {}): AuditEntry[] {
    this.#refuseIfClosed();
    return this.#reader.list(query);
  }

  get(which: number | string): AuditEntry | undefined {
    this.#refuseIfClosed();
    return this.#reader.get(which);
  }

  export(query: AuditQuery = {}): AsyncIterable<string> {
    this.#refuseIfClosed();
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
    clearTimeout(this.#filling);
    clearTimeout(this.#signing);
    clearInterval(this.#pruning);
    await this.#commits.settled();
    await this.#upkeep;
    try {
      await this.#fill();
      await transact(this.#database, this.#settings.folder, () => this.#writer.signHead());
      // Moves the log into audit.db, so that a copy of this one file is the whole trail.
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      this.#database.close();
    }
  }

  async #commit(records: PreparedRecord[]): Promise<AuditHead[]> {
    await this.#makeRoom(records.reduce((sum, { bytes }) => sum + bytes, 0));
    const recorded = await transact(this.#database, this.#settings.folder, () => {
      this.#refuseIfGone();
      for (const { lock } of records) if (lock !== null) this.#locks.keep(lock);
      const heads = this.#writer.append(records);
      const { seq, checkpoint } = heads.at(-1)!;
      if (seq - checkpoint >= SIGN_AFTER_ENTRIES) this.#writer.signHead();
      return heads.map(({ seq, hash }) => ({ seq, hash }));
    });
    if (this.#closed === undefined) {
      this.#fillSoon();
      this.#signing ??= setTimeout(() => this.#sign(), SIGN_AFTER_MS).unref();
    }
    return recorded;
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

  #fillSoon(): void {
    this.#filling ??= setTimeout(() => {
      this.#filling = undefined;
      // If it fails, queries scan the entries that the lookup lacks, and the next commit tries again.
      this.#keepUp(() => this.#fill()).catch(() => {});
    }, LOOKUP_AFTER_MS).unref();
  }

  async #fill(): Promise<void> {
    while (await transact(this.#database, this.#settings.folder, () => fillLookup(this.#database)))
      await setImmediate();
  }

  async #sign(): Promise<void> {
    this.#signing = undefined;
    try {
      await this.#keepUp(() =>
        transact(this.#database, this.#settings.folder, () => this.#writer.signHead()),
      );
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
