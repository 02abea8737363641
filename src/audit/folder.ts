import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { auditError } from './audit-error.js';

const OWN = [
  'audit.db',
  'audit.db-wal',
  'audit.db-shm',
  'audit.db-journal',
  'audit.key',
  'audit.key.new',
  'audit.pub',
];

export interface AuditFiles {
  folder: string;
  database: string;
  privateKey: string;
  /** The private key until the database that goes with it is committed. */
  newKey: string;
  publicKey: string;
}

export function filesIn(folder: string): AuditFiles {
  return {
    folder,
    database: join(folder, 'audit.db'),
    privateKey: join(folder, 'audit.key'),
    newKey: join(folder, 'audit.key.new'),
    publicKey: join(folder, 'audit.pub'),
  };
}

/** The folder for its owner alone. One that others may enter is closed only where nothing but the trail is in it. */
export function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const others = readdirSync(folder).filter((name) => !OWN.includes(name));
  if ((statSync(folder).mode & 0o077) !== 0) {
    if (others.length > 0)
      throw auditError(
        'unusable',
        `The folder of the audit trail, ${folder}, is open to other users and holds other files. Give it one of its own.`,
        { folder },
      );
    chmodSync(folder, 0o700);
  }
  for (const name of OWN) closeToOthers(join(folder, name));
}

/** By name: opening and closing the database's file would let go of SQLite's locks on it. */
function closeToOthers(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && (found.mode & 0o077) !== 0) chmodSync(path, 0o600);
}

/** SQLite gives its other files the mode of this one. Says whether it was made. */
export function makeEmptyFile(path: string): boolean {
  if (existsSync(path)) return false;
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

export function writePrivate(path: string, text: string): void {
  const file = openSync(path, 'w', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Makes new names in the folder outlast a power loss. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
