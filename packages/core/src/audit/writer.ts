import type { KeyObject } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { auditError } from './audit-error.js';
import { hashOf, type PreparedRecord } from './chain.js';
import { type Checkpoint, signCheckpoint } from './checkpoint.js';
import { type Database, LOOKUP_COLUMNS, type Statement } from './database.js';

export interface Head {
  seq: number;
  hash: string;
  /** Number of the latest checkpoint. */
  checkpoint: number;
}

/** The statements that write. Each method runs inside a transaction, because other processes write the same chain. */
export class Writer {
  readonly #key: KeyObject | undefined;
  readonly #readHead: Statement;
  readonly #writeHead: Statement;
  readonly #insert: Statement;
  readonly #insertCheckpoint: Statement;

  /** `key`: to sign. */
  constructor(database: Database, key?: KeyObject) {
    this.#key = key;
    this.#readHead = database.prepare('SELECT seq, hash, checkpoint FROM head WHERE id = 1');
    this.#writeHead = database.prepare('UPDATE head SET seq = ?, hash = ?, checkpoint = ? WHERE id = 1');
    this.#insert = database.prepare(
      `INSERT INTO entries (${LOOKUP_COLUMNS.join(', ')}, prev_hash, hash, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#insertCheckpoint = database.prepare(
      'INSERT OR REPLACE INTO checkpoints (seq, role, hash, time, previous, signature) VALUES (?, ?, ?, ?, ?, ?)',
    );
  }

  head(): Head {
    const head = this.#readHead.get() as Head | undefined;
    if (head === undefined) throw auditError('damaged', 'The audit trail has lost its head: verify it.');
    return head;
  }

  /** Appends the records; returns the head after each of them. */
  append(records: PreparedRecord[]): Head[] {
    const heads: Head[] = [];
    let head = this.head();
    for (const record of records) {
      head = this.#appendOne(head, record);
      heads.push(head);
    }
    this.#writeHead.run(head.seq, head.hash, head.checkpoint);
    return heads;
  }

  #appendOne(head: Head, { columns, bodyAt }: PreparedRecord): Head {
    const seq = head.seq + 1;
    const body = bodyAt(seq);
    const hash = hashOf(head.hash, body);
    const { time, kind, client, client_name, run_id, sha256, environment, profile, verdict, lock } = columns;
    const values = [time, kind, client, client_name, run_id, sha256, environment, profile, verdict, lock];
    this.#insert.run(seq, ...values, head.hash, hash, body);
    return { seq, hash, checkpoint: head.checkpoint };
  }

  /** Signs the newest entry, unless it is signed already. */
  signHead(): void {
    const { seq, hash, checkpoint } = this.head();
    if (seq === checkpoint) return;
    this.#sign({ seq, role: 'regular', hash, previous: checkpoint });
    this.#writeHead.run(seq, hash, seq);
  }

  signCut(seq: number, hash: string): void {
    this.#sign({ seq, role: 'cut', hash, previous: 0 });
  }

  #sign(statement: Pick<Checkpoint, 'seq' | 'role' | 'hash' | 'previous'>): void {
    const signed = signCheckpoint({ ...statement, time: new Date().toISOString() }, this.#key!);
    const { seq, role, hash, time, previous, signature } = signed;
    this.#insertCheckpoint.run(seq, role, hash, time, previous, signature);
  }
}

/** The most items per commit, so that the next commit does not wait for long. */
const MOST_AT_ONCE = 500;
const MOST_BYTES_AT_ONCE = 1024 * 1024;
/** Within this time after a commit, more items are likely to arrive in the same turn of the event loop. */
const BUSY_MS = 2;

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Commits items in order; items that arrive during a commit share the next one. */
export class SharedCommits<Item, Result> {
  readonly #commit: (items: Item[]) => Promise<Result[]>;
  readonly #bytesOf: (item: Item) => number;
  #waiting: Waiting<Item, Result>[] = [];
  #under: Promise<void> | undefined;
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(commit: (items: Item[]) => Promise<Result[]>, bytesOf: (item: Item) => number = () => 0) {
    this.#commit = commit;
    this.#bytesOf = bytesOf;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#under ??= this.#work();
    });
  }

  /** Resolves when nothing is pending. */
  async settled(): Promise<void> {
    while (this.#under !== undefined) await this.#under;
  }

  async #work(): Promise<void> {
    // A single item does not wait for others, except in a busy moment.
    if (performance.now() - this.#endedAt < BUSY_MS) await setImmediate();
    else await undefined;
    while (this.#waiting.length > 0) {
      await this.#commitSome(this.#waiting.splice(0, this.#countForOne()));
      // A commit blocks the event loop, so requests that arrived during it are read before the next one.
      if (this.#waiting.length > 0) await setImmediate();
    }
    this.#endedAt = performance.now();
    this.#under = undefined;
  }

  /** Returns how many pending items go into one commit: at least one, of any size. */
  #countForOne(): number {
    let bytes = 0;
    const tooMany = this.#waiting.findIndex(({ item }, index) => {
      bytes += this.#bytesOf(item);
      return index >= MOST_AT_ONCE || (index > 0 && bytes > MOST_BYTES_AT_ONCE);
    });
    return tooMany < 0 ? this.#waiting.length : tooMany;
  }

  async #commitSome(some: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#commit(some.map(({ item }) => item));
      for (const [index, { resolve }] of some.entries()) resolve(results[index]!);
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  }
}
