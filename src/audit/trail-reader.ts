import type { AuditEntry, AuditQuery, AuditVerification } from '../contract/audit.js';
import { translateError } from './audit-error.js';
import type { EntryRow } from './chain.js';
import type { Database } from './database.js';
import { type AuditFiles, filesIn } from './folder.js';
import { LockTexts } from './lock-texts.js';
import { connectForReading } from './open-database.js';
import { checkEntry, Problems } from './problems.js';
import { countOldest } from './pruning.js';
import { getEntry, listEntries } from './query.js';
import { verifyTrail } from './verify.js';

const EXPORT_PAGE = 500;

/** What can be asked of a trail. */
export class TrailReader {
  readonly folder: string;
  readonly #database: Database;
  readonly #locks: LockTexts;

  constructor(database: Database, { folder, locks }: AuditFiles) {
    this.folder = folder;
    this.#database = database;
    this.#locks = new LockTexts(locks);
  }

  list(query: AuditQuery = {}): AuditEntry[] {
    return this.#read(() => listEntries(this.#database, query));
  }

  /** By number, or by the id of a run. */
  get(which: number | string): AuditEntry | undefined {
    return this.#read(() => getEntry(this.#database, which));
  }

  /** The number of the oldest entry that is there. */
  bounds(): { first: number | null } {
    return this.#read(
      () => this.#database.prepare('SELECT min(seq) AS first FROM entries').get() as { first: number | null },
    );
  }

  /** What is wrong with an entry by itself; what only its neighbours know is for `verify`. */
  problemOf(seq: number): string | undefined {
    return this.#read(() => {
      const row = this.#database.prepare('SELECT * FROM entries WHERE seq = ?').get(seq);
      const problems = new Problems();
      if (row !== undefined) checkEntry(row as unknown as EntryRow, undefined, problems);
      return problems.list()[0]?.problem;
    });
  }

  /** Lines of JSON, newest first; all that match, unless the query has a limit. */
  async *export(query: AuditQuery = {}): AsyncIterable<string> {
    let { before, limit: left = Number.POSITIVE_INFINITY } = query;
    while (left > 0) {
      const limit = Math.min(left, EXPORT_PAGE);
      const page = this.list({ ...query, limit, ...(before === undefined ? {} : { before }) });
      for (const entry of page) yield `${JSON.stringify(entry)}\n`;
      if (page.length === 0) return;
      before = page.at(-1)!.seq;
      left -= page.length;
    }
  }

  /** How many entries pruning with this time would remove. */
  countBefore(before: Date): number {
    return this.#read(() => countOldest(this.#database, before));
  }

  /** The lock file that an entry names. Throws where it is missing or was changed. */
  lockText(sha256: string): string {
    return this.#locks.read(sha256);
  }

  verify(): Promise<AuditVerification> {
    return verifyTrail(this.folder);
  }

  close(): void {
    this.#database.close();
  }

  #read<T>(look: () => T): T {
    try {
      return look();
    } catch (error) {
      throw translateError(error, this.folder);
    }
  }
}

/** Of a trail that others may be writing. Makes none where there is none, and changes nothing. */
export async function openTrailForReading(folder: string): Promise<TrailReader> {
  const files = filesIn(folder);
  return new TrailReader(await connectForReading(files), files);
}
