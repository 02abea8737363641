import type { AuditHead } from '../contract/audit.js';
import { auditError } from './audit-error.js';
import type { Checkpoint } from './checkpoint.js';
import { type Database, readTogether } from './database.js';

/** An entry, and how many bytes of its body are known already. */
export interface TrailPosition {
  seq: number;
  offset: number;
}

/** A part of an entry's body: entries may be larger than a message. */
export interface TrailPiece {
  seq: number;
  prevHash: string;
  hash: string;
  body: Buffer;
  /** The body ends with it. */
  isLast: boolean;
}

/**
 * A part of a trail, with which somebody else computes its hashes again. It has whole bodies, because that is what the
 * hash of an entry covers.
 */
export interface TrailPage {
  /** As PEM. It names the trail, and the cut is signed with it. */
  publicKey: string;
  head: AuditHead;
  /** The signed beginning of the chain, if entries were removed. */
  cut: Checkpoint | null;
  pieces: TrailPiece[];
}

const MOST_PIECES = 1000;

interface Row {
  seq: number;
  prev_hash: string;
  hash: string;
  body: string;
}

/** Reads from a position on, oldest first, about so many bytes. Nothing else is written between its parts. */
export const readPage = (
  database: Database,
  from: TrailPosition,
  mostBytes: number,
): Omit<TrailPage, 'publicKey'> =>
  readTogether(database, () => ({
    head: readHead(database),
    cut: readCut(database),
    pieces: [...readPieces(database, from, mostBytes)],
  }));

export function readHead(database: Database): AuditHead {
  const head = database.prepare('SELECT seq, hash FROM head WHERE id = 1').get() as AuditHead | undefined;
  if (head === undefined) throw auditError('damaged', 'The audit trail has lost its head: verify it.');
  return { seq: head.seq, hash: head.hash };
}

function readCut(database: Database): Checkpoint | null {
  const sql = `SELECT * FROM checkpoints WHERE role = 'cut' ORDER BY seq DESC LIMIT 1`;
  const row = database.prepare(sql).get() as Checkpoint | undefined;
  return row === undefined ? null : { ...row };
}

function* readPieces(database: Database, from: TrailPosition, mostBytes: number): Generator<TrailPiece> {
  const next = database.prepare(
    'SELECT seq, prev_hash, hash, body FROM entries WHERE seq >= ? ORDER BY seq LIMIT 1',
  );
  let { seq, offset } = from;
  let left = mostBytes;
  for (let count = 0; left > 0 && count < MOST_PIECES; count += 1) {
    const row = next.get(seq) as Row | undefined;
    if (row === undefined) return;
    const whole = Buffer.from(row.body);
    const begin = row.seq === from.seq ? offset : 0;
    const body = whole.subarray(begin, begin + left);
    const isLast = begin + body.length >= whole.length;
    yield { seq: row.seq, prevHash: row.prev_hash, hash: row.hash, body, isLast };
    left -= body.length;
    [seq, offset] = [row.seq + 1, 0];
  }
}
