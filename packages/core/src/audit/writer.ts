import type { KeyObject } from 'node:crypto';
import { auditError } from './audit-error.js';
import { hashOf, type PreparedRecord } from './chain.js';
import { type Checkpoint, signCheckpoint } from './checkpoint.js';
import type { Database, Statement } from './database.js';
import { LOOKUP_COLUMNS } from './lookup.js';

export interface Head {
  seq: number;
  hash: string;
  /** Number of the latest checkpoint. */
  checkpoint: number;
}

/** The statements that write. Each method runs inside a transaction, because other processes write the same chain. */
export class Writer {
  readonly #key: KeyObject;
  readonly #readHead: Statement;
  readonly #writeHead: Statement;
  readonly #insert: Statement;
  readonly #insertCheckpoint: Statement;

  constructor(database: Database, key: KeyObject) {
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
    const signed = signCheckpoint({ ...statement, time: new Date().toISOString() }, this.#key);
    const { seq, role, hash, time, previous, signature } = signed;
    this.#insertCheckpoint.run(seq, role, hash, time, previous, signature);
  }
}
