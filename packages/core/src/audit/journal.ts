import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { AuditRecord } from '../contract/audit.js';
import { diskFull } from './audit-error.js';
import { type PreparedRecord, prepareRecord } from './chain.js';
import type { Database } from './database.js';
import { JOURNAL_NAME } from './folder.js';
import type { Writer } from './writer.js';

/** The entry after this many bytes is recorded together with all before it: on a full disk, little waits for room. */
const MOST_BYTES = 64 * 1024;
/** A larger entry is not written twice. */
const MOST_ENTRY_CHARS = 32 * 1024;
/** A journal whose process cannot be seen may belong to another container. */
const ABANDONED_AFTER_MS = 60_000;
const MAY_BE_GONE = { throwIfNoEntry: false } as const;
/** Far more than a journal ever holds. */
const MOST_READ_BYTES = 16 * 1024 * 1024;

/**
 * Entries that are recorded, but not yet chained: writing a line takes a fraction of the time of a transaction. They
 * are folded into the database a moment later, many at once, by this process or by whoever reads the trail before.
 * Lines are numbered, and the database knows the last one that it has, so that none is folded twice; once it has all, the
 * next line is written over the first one, because it takes milliseconds to truncate a file.
 */
export class Journal {
  readonly #folder: string;
  #name = '';
  #path = '';
  #file: number | undefined;
  #inode = 0;
  #serial = 0;
  /** The bytes that are not folded, from the beginning of the file. */
  #bytes = 0;
  #hasFolded = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns false if the entry is too large, or there are too many. */
  append(record: AuditRecord): boolean {
    if (this.#bytes > MOST_BYTES) return false;
    const json = JSON.stringify({ time: new Date().toISOString(), ...record });
    if (json.length > MOST_ENTRY_CHARS) return false;
    this.#write(json);
    // If the file is gone, somebody took this process for dead, and may or may not have read the line. If the folder is
    // gone, this fails.
    if (statSync(this.#path, MAY_BE_GONE)?.ino !== this.#inode) {
      this.#leave();
      this.#write(json);
    }
    return true;
  }

  /** Adds its lines to the chain, inside a transaction. */
  fold(database: Database, writer: Writer): void {
    if (this.#bytes > 0) foldOne(database, writer, this.#folder, this.#name);
  }

  /** Call it after the transaction that folded its lines. */
  clear(): void {
    this.#hasFolded ||= this.#bytes > 0;
    this.#bytes = 0;
  }

  /** Erases lines that were folded. It takes milliseconds. */
  wipe(): void {
    if (!this.#hasFolded || this.#bytes > 0) return;
    ftruncateSync(this.#file!, 0);
    this.#hasFolded = false;
  }

  /** Removes the file if everything in it was folded. */
  close(): void {
    const isFolded = this.#file !== undefined && this.#bytes === 0;
    this.#leave();
    if (isFolded) rmSync(this.#path, { force: true });
  }

  #leave(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#bytes = 0;
    this.#hasFolded = false;
  }

  #write(json: string): void {
    this.#file ??= this.#create();
    const serial = this.#serial + 1;
    // The number is repeated at the end: a line that was cut by a kill ends with the rest of an older one.
    const line = Buffer.from(`${serial}\t${json}\t${serial}\n`);
    const written = writeSync(this.#file, line, 0, line.length, this.#bytes);
    if (written < line.length) throw diskFull(this.#folder);
    this.#serial = serial;
    this.#bytes += line.length;
  }

  #create(): number {
    this.#name = `journal.${process.pid}.${randomBytes(8).toString('hex')}`;
    this.#path = join(this.#folder, this.#name);
    this.#serial = 0;
    const { O_WRONLY, O_CREAT, O_EXCL } = constants;
    const file = openSync(this.#path, O_WRONLY | O_CREAT | O_EXCL, 0o600);
    this.#inode = fstatSync(file).ino;
    return file;
  }
}

/** The journals of a folder that hold something. */
export function journalsIn(folder: string): string[] {
  return namesIn(folder).filter((name) => (sizeOf(join(folder, name)) ?? 0) > 0);
}

/** Adds the lines of all journals to the chain, inside a transaction. */
export function foldAll(database: Database, writer: Writer, folder: string): void {
  for (const name of journalsIn(folder)) foldOne(database, writer, folder, name);
}

/**
 * Folds and removes the journals of processes that were killed. If such a process is alive after all, in another container,
 * then it sees that its file is gone and writes to another one; what it wrote before is read once more.
 */
export async function adoptAbandoned(folder: string, transact: Transact): Promise<void> {
  const abandoned = namesIn(folder).filter((name) => !isUsed(join(folder, name), name));
  const open = abandoned.flatMap((name) => {
    const file = openForReading(join(folder, name));
    return file === undefined ? [] : [{ name, file }];
  });
  if (open.length === 0) return;
  try {
    await transact((database, writer) => {
      for (const { name, file } of open) {
        // Another server may adopt it, too: it removes the file before it forgets how far that was folded.
        if (fstatSync(file).nlink === 0) continue;
        database.prepare('INSERT OR IGNORE INTO journals (name, serial) VALUES (?, 0)').run(name);
        foldLines(database, writer, name, readWhole(file));
      }
    });
    for (const { name } of open) rmSync(join(folder, name), { force: true });
    await transact((database, writer) => {
      for (const { name, file } of open) {
        if (lastFolded(database, name) === undefined) continue; // the other server has done the rest
        foldLines(database, writer, name, readWhole(file));
        database.prepare('DELETE FROM journals WHERE name = ?').run(name);
      }
    });
  } finally {
    for (const { file } of open) closeSync(file);
  }
}

type Fold = (database: Database, writer: Writer) => void;
/** Runs a function inside of a transaction. */
type Transact = (fold: Fold) => Promise<void>;

/** The last line of each journal that the chain has. A journal that is gone is not forgotten before its file is. */
export const JOURNALS_TABLE =
  'CREATE TABLE IF NOT EXISTS journals (name TEXT PRIMARY KEY, serial INTEGER NOT NULL) STRICT';

function foldOne(database: Database, writer: Writer, folder: string, name: string): void {
  const file = openForReading(join(folder, name));
  if (file === undefined) return; // its process has just closed it
  try {
    foldLines(database, writer, name, readWhole(file));
  } finally {
    closeSync(file);
  }
}

function lastFolded(database: Database, name: string): number | undefined {
  const known = database.prepare('SELECT serial FROM journals WHERE name = ?').get(name);
  return (known as { serial: number } | undefined)?.serial;
}

function foldLines(database: Database, writer: Writer, name: string, text: string): void {
  const last = lastFolded(database, name) ?? 0;
  const lines = text.split('\n').flatMap((line) => readLine(line, last) ?? []);
  if (lines.length === 0) return;
  writer.append(lines.map(({ record }) => record));
  database
    .prepare('INSERT OR REPLACE INTO journals (name, serial) VALUES (?, ?)')
    .run(name, lines.at(-1)!.serial);
}

/**
 * Returns undefined for a line that was folded before, or the rest of one, which has no larger number; and for one that was
 * not written as a whole.
 */
function readLine(line: string, last: number): { serial: number; record: PreparedRecord } | undefined {
  const [number = '', json = '', again] = line.split('\t');
  const serial = Number(number);
  if (!(serial > last) || again !== number) return undefined;
  try {
    const { time, ...record } = JSON.parse(json) as AuditRecord & { time: string };
    return { serial, record: prepareRecord(record as AuditRecord, null, time) };
  } catch {
    return undefined;
  }
}

/** Returns undefined if it is gone, or nothing that a process of this user wrote. */
function openForReading(path: string): number | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  let file: number;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return undefined;
  }
  const about = fstatSync(file);
  if (about.isFile() && about.size <= MOST_READ_BYTES && about.uid === (process.getuid?.() ?? about.uid))
    return file;
  closeSync(file);
  return undefined;
}

/** Reads from the beginning, wherever the file was read before. */
function readWhole(file: number): string {
  const content = Buffer.alloc(fstatSync(file).size);
  return content.toString('utf8', 0, readSync(file, content, 0, content.length, 0));
}

/** A process writes to its journal as long as its id, or a recent change, says that it is there. */
function isUsed(path: string, name: string): boolean {
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if (mtimeMs === undefined || Date.now() - mtimeMs < ABANDONED_AFTER_MS) return true;
  const pid = Number(JOURNAL_NAME.exec(name)![1]);
  // In a container, the next process may have the id of the one before.
  return pid === process.pid ? mtimeMs >= performance.timeOrigin : isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => JOURNAL_NAME.test(name));
  } catch {
    return [];
  }
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size;
