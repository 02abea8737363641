import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { syncFolder, writeAtomically } from '../base/files.js';
import { auditError } from './audit-error.js';
import { canonicalJson } from './chain.js';
import { type Database, rowsDown } from './database.js';
import type { AuditFiles } from './folder.js';
import type { Problems } from './problems.js';

/**
 * A signed statement about the chain. "regular": the entry of this number had this hash. "cut": the entries up to
 * this one were removed on purpose, and the chain begins after it. The role is signed, so a regular checkpoint cannot
 * be used as a cut. `previous` is the number of the preceding checkpoint, so a removed checkpoint is noticed.
 */
export interface Checkpoint {
  seq: number;
  role: 'regular' | 'cut';
  hash: string;
  time: string;
  previous: number;
  signature: string;
}

const messageOf = ({ seq, role, hash, time, previous }: Omit<Checkpoint, 'signature'>) =>
  Buffer.from(`pungi audit checkpoint 1\n${canonicalJson({ seq, role, hash, time, previous })}`);

export function signCheckpoint(checkpoint: Omit<Checkpoint, 'signature'>, key: KeyObject): Checkpoint {
  return { ...checkpoint, signature: sign(null, messageOf(checkpoint), key).toString('base64') };
}

export const isSigned = (checkpoint: Checkpoint, key: KeyObject) =>
  verify(null, messageOf(checkpoint), key, Buffer.from(checkpoint.signature, 'base64')) &&
  // Several Base64 texts decode to the same bytes.
  Buffer.from(checkpoint.signature, 'base64').toString('base64') === checkpoint.signature;

/** Checks the regular checkpoints from the newest down: each signature, and the link to the previous checkpoint. */
export class CheckpointCheck {
  count = 0;
  readonly #rows: Iterator<Checkpoint, void>;
  readonly #key: KeyObject;
  readonly #start: number;
  readonly #problems: Problems;
  #next: Checkpoint | undefined;
  /** The number that the checkpoint above names as its predecessor; undefined if that checkpoint is not trusted. */
  #awaited: number | undefined;

  constructor(
    database: Database,
    key: KeyObject,
    start: number,
    newest: number | undefined,
    problems: Problems,
  ) {
    this.#rows = rowsDown(
      database.prepare(
        `SELECT * FROM checkpoints WHERE role = 'regular' AND seq < ? ORDER BY seq DESC LIMIT 1`,
      ),
    );
    this.#key = key;
    this.#start = start;
    this.#awaited = newest;
    this.#problems = problems;
    this.#next = this.#read();
  }

  /** Returns the hash that was signed for this entry, and skips the checkpoints of later entries. */
  signedHash(seq: number): string | undefined {
    while (this.#next !== undefined && this.#next.seq > seq) this.#take();
    return this.#next?.seq === seq ? this.#take() : undefined;
  }

  /** Returns the number of the newest trusted checkpoint above `seq`, whose entry is missing. */
  newestAbove(seq: number): number | undefined {
    let newest: number | undefined;
    while (this.#next !== undefined && this.#next.seq > seq) {
      const at = this.#next.seq;
      if (this.#take() !== undefined) newest ??= at;
    }
    return newest;
  }

  finish(): void {
    while (this.#next !== undefined) this.#take();
    this.#reportSkipped(this.#start);
  }

  /** Checks the next checkpoint and returns its hash if it can be trusted. */
  #take(): string | undefined {
    const checkpoint = this.#next!;
    const { seq, previous, hash } = checkpoint;
    this.#next = this.#read();
    this.count += 1;
    if (!isSigned(checkpoint, this.#key)) {
      this.#problems.add(seq, `The checkpoint at entry ${seq} has a bad signature.`);
      // It may be the awaited checkpoint under another number, so it is unknown which one is missing.
      this.#awaited = undefined;
      return undefined;
    }
    if (seq <= this.#start) this.#problems.add(seq, `The checkpoint at entry ${seq} lies before the cut.`);
    else if (this.#awaited !== undefined && this.#awaited < seq)
      this.#problems.add(seq, `The checkpoint at entry ${seq} is not linked from the next one.`);
    else this.#reportSkipped(seq);
    this.#awaited = previous;
    return hash;
  }

  #reportSkipped(reached: number): void {
    if (this.#awaited !== undefined && this.#awaited > reached)
      this.#problems.add(this.#awaited, `The checkpoint at entry ${this.#awaited} is missing.`);
  }

  #read(): Checkpoint | undefined {
    return this.#rows.next().value ?? undefined;
  }
}

export interface KeyPair {
  privateKey: KeyObject;
  publicKey: KeyObject;
}

const writePrivate = (path: string, text: string) =>
  writeAtomically(path, text, { mode: 0o600, isDurable: true });

export const publicText = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();

/** Creates the keys. The private key has a provisional name until `adoptKeys` runs after the commit. */
export function makeKeys(files: AuditFiles): KeyPair {
  const pair = generateKeyPairSync('ed25519');
  writePrivate(files.newKey, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  writePrivate(files.publicKey, publicText(pair.publicKey));
  return pair;
}

/** Returns the keys of a committed database, also if another process created it and was interrupted. */
export function adoptKeys(files: AuditFiles): KeyPair {
  if (!existsSync(files.privateKey)) rename(files);
  const privateKey = readPrivateKey(files);
  const publicKey = createPublicKey(privateKey);
  const text = publicText(publicKey);
  if (!existsSync(files.publicKey)) {
    writePrivate(files.publicKey, text);
    syncFolder(files.folder);
  } else if (readFileSync(files.publicKey, 'utf8') !== text)
    throw auditError('damaged', `The keys of the audit trail in ${files.folder} do not belong together.`, {
      folder: files.folder,
    });
  return { privateKey, publicKey };
}

function rename(files: AuditFiles): void {
  try {
    renameSync(files.newKey, files.privateKey);
  } catch {
    // Another process has renamed it at this moment, or there is no key, and reading it fails.
  }
}

function readPrivateKey(files: AuditFiles): KeyObject {
  try {
    return createPrivateKey(readFileSync(files.privateKey));
  } catch (error) {
    throw auditError(
      'damaged',
      `The key of the audit trail in ${files.folder} is missing or not readable.`,
      { folder: files.folder },
      error,
    );
  }
}

export function readPublicKey(files: AuditFiles): KeyObject {
  try {
    return createPublicKey(readFileSync(files.publicKey));
  } catch (error) {
    throw auditError(
      'damaged',
      `The public key of the audit trail in ${files.folder} is missing or not readable.`,
      { folder: files.folder },
      error,
    );
  }
}
