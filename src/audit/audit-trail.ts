import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import {
  type AuditEntry,
  type AuditQuery,
  AuditRecord,
  type AuditRecordInput,
  type AuditSettings,
  type AuditVerification,
} from '../contract/audit.js';
import { auditError, translateError } from './audit-error.js';
import { type PreparedRecord, prepareRecord } from './chain.js';
import type { Database } from './database.js';
import { filesIn, makePrivate } from './folder.js';
import { type OpenedDatabase, openDatabase } from './open-database.js';
import { type Pruned, pruneEntries } from './pruning.js';
import { getEntry, listEntries } from './query.js';
import { SharedCommits } from './shared-commits.js';
import { transact } from './transaction.js';
import { verifyTrail } from './verify.js';
import { Writer } from './writer.js';

const SIGN_AFTER_ENTRIES = 1000;
const SIGN_AFTER_MS = 60_000;
const PRUNE_EVERY_MS = 60 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
const EXPORT_PAGE = 500;

export interface Recorded {
  seq: number;
  hash: string;
}

/** What happened, in a chain that several servers may write and that anybody can check. */
export class AuditTrail {
  readonly #settings: AuditSettings;
  readonly #logger: Logger;
  readonly #database: Database;
  readonly #writer: Writer;
  readonly #commits = new SharedCommits<PreparedRecord, Recorded>((records) => this.#commit(records));
  #signing: NodeJS.Timeout | undefined;
  #pruning: NodeJS.Timeout | undefined;
  /** Signing and pruning, one after the other. */
  #upkeep: Promise<unknown> = Promise.resolve();
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
    this.#database = database;
    this.#writer = new Writer(database, keys.privateKey);
    if (settings.retentionDays !== null) this.#keepRetention(settings.retentionDays);
  }

  /** Resolves when the entry is committed; rejects where it is not, and then it must not be said to be. */
  async record(input: AuditRecordInput): Promise<Recorded> {
    this.#refuseIfClosed();
    return this.#commits.add(prepareRecord(this.#redact(parse(input))));
  }

  list(query: AuditQuery = {}): AuditEntry[] {
    return this.#read(() => listEntries(this.#database, query));
  }

  /** By number, or by the id of a run. */
  get(which: number | string): AuditEntry | undefined {
    return this.#read(() => getEntry(this.#database, which));
  }

  /** Lines of JSON, newest first; all that match, unless the query has a limit. */
  async *export(query: AuditQuery = {}): AsyncIterable<string> {
    let { before, limit: left = Number.POSITIVE_INFINITY } = query;
    while (left > 0) {
      const page = this.list({
        ...query,
        limit: Math.min(left, EXPORT_PAGE),
        ...(before === undefined ? {} : { before }),
      });
      for (const entry of page) yield `${JSON.stringify(entry)}\n`;
      if (page.length === 0) return;
      before = page.at(-1)!.seq;
      left -= page.length;
    }
  }

  /** Removes entries from before that time. What is left can be verified as before, from a signed cut on. */
  prune(before: Date): Promise<Pruned> {
    this.#refuseIfClosed();
    return this.#keepUp(() => pruneEntries(this.#database, this.#settings.folder, this.#writer, before));
  }

  verify(): Promise<AuditVerification> {
    return verifyTrail(this.#settings.folder);
  }

  /** Commits what waits and signs the newest entry. */
  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    clearTimeout(this.#signing);
    clearInterval(this.#pruning);
    await this.#commits.settled();
    await this.#upkeep;
    try {
      await transact(this.#database, this.#settings.folder, () => this.#writer.signHead());
      // So that audit.db alone is the whole trail, for those who copy it.
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      this.#database.close();
    }
  }

  async #commit(records: PreparedRecord[]): Promise<Recorded[]> {
    const recorded = await transact(this.#database, this.#settings.folder, () => {
      const heads = this.#writer.append(records);
      const { seq, checkpoint } = heads.at(-1)!;
      if (seq - checkpoint >= SIGN_AFTER_ENTRIES) this.#writer.signHead();
      return heads.map(({ seq, hash }) => ({ seq, hash }));
    });
    if (this.#closed === undefined) this.#signing ??= setTimeout(() => this.#sign(), SIGN_AFTER_MS).unref();
    return recorded;
  }

  async #sign(): Promise<void> {
    this.#signing = undefined;
    try {
      await this.#keepUp(() =>
        transact(this.#database, this.#settings.folder, () => this.#writer.signHead()),
      );
    } catch (error) {
      this.#logger.error('The audit trail could not be signed; it is tried again with the next entry.', {
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

  #redact(record: AuditRecord): AuditRecord {
    if (this.#settings.storeCode) return record;
    if (record.kind === 'run') return { ...record, data: { ...record.data, code: null, inputs: null } };
    if (record.kind === 'denial') return { ...record, data: { ...record.data, code: null } };
    return record;
  }

  #read<T>(look: () => T): T {
    this.#refuseIfClosed();
    try {
      return look();
    } catch (error) {
      throw translateError(error, this.#settings.folder);
    }
  }

  #refuseIfClosed(): void {
    if (this.#closed !== undefined) throw auditError('closed', 'The audit trail is closed.');
  }
}

function parse(input: AuditRecordInput): AuditRecord {
  const parsed = AuditRecord.safeParse(input);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new PungiError('INVALID_INPUT', `This cannot be recorded: ${issues.join('; ')}.`, { issues });
}
