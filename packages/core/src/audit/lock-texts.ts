import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { syncFolder, writeAtomically } from '../base/files.js';
import { sha256 } from '../base/sha256.js';
import type { EnvironmentLock } from '../contract/audit.js';
import { auditError } from './audit-error.js';
import { type Database, EVERY_ENTRY } from './database.js';

import type { Problems } from './problems.js';

const SHA256 = /^[0-9a-f]{64}$/;
const DRAFT = /^[0-9a-f]{64}\.lock\.[0-9a-f-]+\.tmp$/;
/** Larger than any lock file that Pungi writes or reads. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The lock files that entries name, each stored under its hash, so that environments can be recreated. */
export class LockTexts {
  constructor(private readonly folder: string) {}

  /** Writes the text once. Runs inside a transaction, because pruning removes unnamed texts inside one. */
  keep({ sha256: name, text }: EnvironmentLock): void {
    const path = this.#pathOf(name);
    if (existsSync(path)) return;
    if (sha256(text) !== name) throw invalid(`"${name}" is not the hash of the lock file`);
    if (!existsSync(this.folder)) {
      mkdirSync(this.folder, { mode: 0o700 });
      syncFolder(dirname(this.folder));
    }
    writeAtomically(path, text, { mode: 0o600, isDurable: true });
    syncFolder(this.folder);
  }

  read(name: string): string {
    const found = this.#look(name);
    if ('problem' in found) throw auditError('damaged', found.problem, { sha256: name });
    return found.text;
  }

  /** Returns what is wrong with the text of this name, or undefined if it exists and has its hash. */
  problemOf(name: string): string | undefined {
    const found = this.#look(name);
    return 'problem' in found ? found.problem : undefined;
  }

  /** Removes the texts that no entry names, and the drafts of killed processes. */
  removeUnless(isNamed: (sha256: string) => boolean): void {
    if (!existsSync(this.folder)) return;
    for (const file of readdirSync(this.folder)) {
      const name = file.replace(/\.lock$/, '');
      if (DRAFT.test(file) || (SHA256.test(name) && !isNamed(name)))
        rmSync(join(this.folder, file), { force: true });
    }
  }

  #look(name: string): { text: string } | { problem: string } {
    const path = this.#pathOf(name);
    let file: number;
    try {
      file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      return { problem: `Its lock file ${path} is ${isMissing ? 'missing' : 'not readable'}.` };
    }
    try {
      const about = fstatSync(file);
      if (!about.isFile() || about.size > MOST_BYTES)
        return { problem: `Its lock file ${path} is not readable.` };
      const bytes = readFileSync(file);
      if (sha256(bytes) !== name)
        return { problem: `Its lock file ${path} was changed: it does not have its hash.` };
      return { text: bytes.toString() };
    } finally {
      closeSync(file);
    }
  }

  #pathOf(name: string): string {
    // The name becomes a file name, and entries can be forged.
    if (!SHA256.test(name)) throw invalid(`"${name}" is not the hash of a lock file`);
    return join(this.folder, `${name}.lock`);
  }
}

const invalid = (what: string) => auditError('damaged', `${what}.`);

interface Named {
  lock: string;
  seq: number;
}

/**
 * Checks the lock files that entries name. No transaction is needed: pruning removes entries before their files, so a
 * file that is missing while an entry names it is a problem.
 */
export function checkLocks(database: Database, folder: string, problems: Problems): void {
  const texts = new LockTexts(folder);
  const named = database
    .prepare(`SELECT lock, max(seq) AS seq FROM ${EVERY_ENTRY} WHERE lock IS NOT NULL GROUP BY lock`)
    .all() as unknown as Named[];
  const newest = database.prepare(`SELECT max(seq) AS seq FROM ${EVERY_ENTRY} WHERE lock = ?`);
  for (const { lock } of named) {
    const problem = problemOf(texts, lock);
    const { seq } = newest.get(lock) as { seq: number | null };
    if (problem !== undefined && seq !== null) problems.add(seq, `Entry ${seq}: ${problem}`);
  }
}

/** The value may be forged and then is not a valid file name. */
function problemOf(texts: LockTexts, lock: string): string | undefined {
  try {
    return texts.problemOf(lock);
  } catch (error) {
    return (error as Error).message;
  }
}
