import type { KeyObject } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { AuditVerification } from '../contract/audit.js';
import { isCorrupt, translateError } from './audit-error.js';
import { type EntryRow, entryOf, NO_HASH } from './chain.js';
import { type Checkpoint, CheckpointCheck, isSigned, publicText, readPublicKey } from './checkpoint.js';
import { type Database, LookupCheck, rowsDown } from './database.js';
import { type AuditFiles, filesIn } from './folder.js';
import { checkLocks } from './lock-texts.js';
import { connectForReading } from './open-database.js';
import { checkEntry, Problems } from './problems.js';
import type { Head } from './writer.js';

/** Rows that are checked before other work of the server gets its turn. */
const AT_ONCE = 200;

/** Verifies the trail in a folder. It writes nothing and does not need the private key. */
export async function verifyTrail(folder: string): Promise<AuditVerification> {
  const files = filesIn(folder);
  const database = await connectForReading(files);
  try {
    // One snapshot of the database, whatever is written meanwhile.
    database.exec('BEGIN');
    return await new Walk(database, files).verify();
  } catch (error) {
    throw translateError(error, folder);
  } finally {
    database.close();
  }
}

/**
 * Walks from the newest entry down, because each entry holds the hash of the one before it. So the entry that was
 * tampered with is named, not the one after it.
 */
class Walk {
  readonly #database: Database;
  readonly #files: AuditFiles;
  readonly #key: KeyObject;
  readonly #problems = new Problems();
  #entries = 0;
  /** The number that the next row must have, and its hash if a trusted entry holds it. */
  #awaited = 0;
  #expected: string | undefined;

  constructor(database: Database, files: AuditFiles) {
    this.#database = database;
    this.#files = files;
    this.#key = readPublicKey(files);
  }

  async verify(): Promise<AuditVerification> {
    const start = this.#start();
    const head = this.#head();
    const checkpoints = new CheckpointCheck(
      this.#database,
      this.#key,
      start.seq,
      head?.checkpoint,
      this.#problems,
    );
    const lost = checkpoints.newestAbove(Math.max(this.#awaited, this.#newestRow()));
    if (lost !== undefined)
      this.#problems.addMissing(this.#newestRow() + 1, lost, 'a signed checkpoint refers to them');
    const isReadable = await this.#walk(start.seq, checkpoints);
    if (isReadable) this.#arrive(start);
    checkpoints.finish();
    this.#database.exec('COMMIT');
    if (isReadable) checkLocks(this.#database, this.#files.locks, this.#problems);
    const problems = this.#problems.list();
    return {
      ok: problems.length === 0,
      entries: this.#entries,
      checkpoints: checkpoints.count,
      head: head === undefined ? null : { seq: head.seq, hash: head.hash },
      removed: start.time === null ? null : { through: start.seq, at: start.time },
      problems,
    };
  }

  /** Returns the entry after which the chain begins: none, or a signed cut. */
  #start(): { seq: number; hash: string; time: string | null } {
    const cuts = this.#database
      .prepare(`SELECT * FROM checkpoints WHERE role = 'cut' ORDER BY seq DESC`)
      .all() as Checkpoint[];
    const [cut, ...older] = cuts.filter((candidate) => {
      const isGood = isSigned(candidate, this.#key);
      if (!isGood)
        this.#problems.add(candidate.seq, `The cut after entry ${candidate.seq} has a bad signature.`);
      return isGood;
    });
    for (const { seq } of older) this.#problems.add(seq, `The cut after entry ${seq} lies before another.`);
    return cut ?? { seq: 0, hash: NO_HASH, time: null };
  }

  #head(): Head | undefined {
    const head = this.#database.prepare('SELECT * FROM head').get() as Head | undefined;
    const newest = this.#newestRow();
    if (head === undefined) this.#problems.add(newest, `The stored head is missing.`);
    this.#awaited = head?.seq ?? newest;
    this.#expected = head?.hash;
    return head;
  }

  #newestRow(): number {
    const row = this.#database.prepare('SELECT max(seq) AS seq FROM entries').get() as { seq: number | null };
    return row.seq ?? 0;
  }

  /** Returns false if the file is damaged and cannot be read further. */
  async #walk(start: number, checkpoints: CheckpointCheck): Promise<boolean> {
    try {
      await this.#readDown(start, checkpoints);
      return true;
    } catch (error) {
      if (!isCorrupt(error)) throw error;
      this.#problems.add(this.#awaited, `The file is damaged: entry ${this.#awaited} cannot be read.`);
      return false;
    }
  }

  async #readDown(start: number, checkpoints: CheckpointCheck): Promise<void> {
    const lookup = new LookupCheck(this.#database, this.#problems);
    const below = this.#database.prepare('SELECT * FROM entries WHERE seq < ? ORDER BY seq DESC LIMIT 1');
    for (const row of rowsDown<EntryRow>(below)) {
      this.#entries += 1;
      if (row.seq > this.#awaited)
        this.#problems.add(
          row.seq,
          `Entry ${row.seq} comes after the stored head: the trail did not write it.`,
        );
      else if (row.seq <= start)
        this.#problems.add(row.seq, `Entry ${row.seq} lies before the beginning of the chain.`);
      else this.#step(row, checkpoints);
      lookup.check(row.seq);
      if (this.#entries % AT_ONCE === 0) await setImmediate();
    }
    lookup.finish();
  }

  #step(row: EntryRow, checkpoints: CheckpointCheck): void {
    if (row.seq < this.#awaited) this.#miss(row.seq + 1);
    this.#expected = checkEntry(row, this.#expected, this.#problems);
    this.#awaited = row.seq - 1;
    const signed = checkpoints.signedHash(row.seq);
    if (signed !== undefined && signed !== row.hash)
      this.#problems.add(
        row.seq,
        `Entry ${row.seq} is not the one that was signed: it, or entries before it, were rewritten.`,
      );
  }

  #miss(from: number): void {
    this.#problems.addMissing(from, this.#awaited, 'later entries refer to them');
    this.#expected = undefined;
  }

  #arrive(start: { seq: number; hash: string }): void {
    const first = start.seq + 1;
    if (this.#awaited > start.seq) this.#miss(first);
    else if (this.#expected !== undefined && this.#expected !== start.hash)
      this.#problems.add(first, `Entry ${first} does not follow the beginning of the chain.`);
    if (start.seq === 0 && !this.#problems.has(1)) this.#checkGenesis();
  }

  #checkGenesis(): void {
    const row = this.#database.prepare('SELECT * FROM entries WHERE seq = 1').get() as EntryRow | undefined;
    if (row === undefined) return;
    const { kind, data } = entryOf(row);
    const details = kind === 'server' && data.event === 'genesis' ? data.details : undefined;
    if ((details as { publicKey?: unknown } | undefined)?.publicKey !== publicText(this.#key))
      this.#problems.add(1, `Entry 1 does not name the public key in ${this.#files.publicKey}.`);
  }
}
