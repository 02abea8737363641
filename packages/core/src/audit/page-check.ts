import { createHash, createPublicKey, type Hash, type KeyObject } from 'node:crypto';
import { sha256 } from '../base/sha256.js';
import type { AuditHead, AuditVerification } from '../contract/audit.js';
import { NO_HASH } from './chain.js';
import { type Checkpoint, isSigned } from './checkpoint.js';
import { Problems } from './problems.js';
import type { TrailPage, TrailPiece, TrailPosition } from './trail-pages.js';

/** Where the chain begins. */
type Start = Pick<Checkpoint, 'seq' | 'hash'> & { time: string | null };

/**
 * Computes the chain of a trail again from its pages, without trust in whoever sent them. It ends with the entry that was the
 * newest when the first page was read.
 */
export class PageCheck {
  readonly #problems = new Problems();
  #publicKey: string | undefined;
  #key: KeyObject | undefined;
  #target: AuditHead | undefined;
  #start: Start = { seq: 0, hash: NO_HASH, time: null };
  #entries = 0;
  #next: TrailPosition = { seq: 0, offset: 0 };
  /** The hash of the entry before; undefined if that one is missing. */
  #hash: string | undefined;
  #hashing: Hash | undefined;
  #isDone = false;
  readonly #kept = new Map<number, string>();

  /** `wanted`: the entries whose hashes are asked for later. */
  constructor(private readonly wanted: ReadonlySet<number>) {}

  /** The position of the next page; undefined at the end. */
  get next(): TrailPosition | undefined {
    return this.#isDone ? undefined : this.#next;
  }

  /** Names the trail. */
  get id(): string {
    return trailId(this.#publicKey ?? '');
  }

  hashAt(seq: number): string | undefined {
    return this.#kept.get(seq);
  }

  take(page: TrailPage): void {
    const before = { ...this.#next };
    if (this.#publicKey === undefined) this.#begin(page);
    if (page.publicKey !== this.#publicKey) {
      this.#problems.add(before.seq, 'Another trail took the place of this one while it was read.');
      this.#isDone = true;
      return;
    }
    this.#cutAt(page.cut);
    for (const piece of page.pieces) if (!this.#isDone) this.#add(piece);
    const isStuck = this.#next.seq === before.seq && this.#next.offset === before.offset;
    if (!this.#isDone && (isStuck || page.pieces.length === 0)) this.#end();
  }

  result(): AuditVerification {
    const problems = this.#problems.list();
    const { seq, time } = this.#start;
    return {
      ok: problems.length === 0,
      entries: this.#entries,
      checkpoints: 0,
      head: this.#target ?? null,
      removed: time === null ? null : { through: seq, at: time },
      problems,
    };
  }

  #begin({ publicKey, head }: TrailPage): void {
    this.#publicKey = publicKey;
    this.#key = readKey(publicKey);
    this.#target = head;
    this.#next = { seq: 1, offset: 0 };
    this.#hash = NO_HASH;
    if (head.seq === 0) this.#isDone = true;
  }

  /** Entries may be removed while the trail is read. */
  #cutAt(cut: Checkpoint | null): void {
    if (cut === null || cut.seq < this.#next.seq) return;
    if (cut.role !== 'cut' || this.#key === undefined || !isSigned(cut, this.#key)) {
      this.#problems.add(cut.seq, `The cut after entry ${cut.seq} has a bad signature.`);
      return;
    }
    this.#start = cut;
    this.#next = { seq: cut.seq + 1, offset: 0 };
    this.#hash = cut.hash;
    if (cut.seq >= this.#target!.seq) this.#isDone = true;
  }

  #add(piece: TrailPiece): void {
    const { seq, prevHash, hash, body, isLast } = piece;
    if (seq < this.#next.seq) return;
    if (seq > this.#target!.seq) {
      this.#end();
      return;
    }
    if (seq > this.#next.seq) this.#miss(seq - 1, 'later entries refer to them');
    if (this.#next.offset === 0) this.#open(seq, prevHash);
    this.#hashing!.update(body);
    this.#next = { seq, offset: this.#next.offset + body.length };
    if (isLast) this.#close(seq, hash);
  }

  #open(seq: number, prevHash: string): void {
    this.#hashing = createHash('sha256').update(prevHash);
    if (this.#hash === undefined || this.#hash === prevHash) return;
    if (seq === this.#start.seq + 1)
      this.#problems.add(seq, `Entry ${seq} does not follow the beginning of the chain.`);
    else this.#problems.add(seq - 1, `Entry ${seq - 1} was replaced: the next entry holds another hash.`);
  }

  #close(seq: number, hash: string): void {
    if (this.#hashing!.digest('hex') !== hash)
      this.#problems.add(seq, `Entry ${seq} was changed: it does not have its hash.`);
    this.#hashing = undefined;
    this.#entries += 1;
    this.#hash = hash;
    if (this.wanted.has(seq)) this.#kept.set(seq, hash);
    this.#next = { seq: seq + 1, offset: 0 };
    if (seq < this.#target!.seq) return;
    this.#isDone = true;
    if (hash !== this.#target!.hash)
      this.#problems.add(seq, `Entry ${seq} was replaced: the stored head holds another hash.`);
  }

  #miss(through: number, witness: string): void {
    this.#problems.addMissing(this.#next.seq, through, witness);
    this.#next = { seq: through + 1, offset: 0 };
    this.#hash = undefined;
  }

  #end(): void {
    this.#isDone = true;
    if (this.#next.seq <= this.#target!.seq) this.#miss(this.#target!.seq, 'the stored head refers to them');
  }
}

/** The name of a trail: it has one key from its first entry on. */
export const trailId = (publicKey: string): string => sha256(publicKey);

/** Undefined for anything that is not a key: then no cut is believed. */
function readKey(publicKey: string): KeyObject | undefined {
  try {
    return createPublicKey(publicKey);
  } catch {
    return undefined;
  }
}
