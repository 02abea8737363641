import { chmodSync, closeSync, existsSync, lstatSync, mkdirSync, openSync, readdirSync } from 'node:fs';

import { dirname, join, resolve } from 'node:path';
import { stateFolder } from '../base/files.js';
import type { Config } from '../config/schema.js';
import type { AuditSettings } from '../contract/audit.js';
import { auditError } from './audit-error.js';

const OWN_FILES = [
  'audit.db',
  'audit.db-wal',
  'audit.db-shm',
  'audit.db-journal',
  'audit.key',
  'audit.key.new',
  'audit.pub',
];
const LOCKS = 'locks';
/** `journal.PID.RANDOM`: each process has its own. */
export const JOURNAL_NAME = /^journal\.(\d+)\.[0-9a-f]+$/;

export interface AuditFiles {
  folder: string;
  database: string;
  privateKey: string;
  /** The private key until the first commit of its database. */
  newKey: string;
  publicKey: string;
  /** The texts of lock files that entries name. */
  locks: string;
}

export function filesIn(folder: string): AuditFiles {
  return {
    folder,
    database: join(folder, 'audit.db'),
    privateKey: join(folder, 'audit.key'),
    newKey: join(folder, 'audit.key.new'),
    publicKey: join(folder, 'audit.pub'),
    locks: join(folder, LOCKS),
  };
}

/**
 * Makes the folder private to its owner and checks that the owner owns everything in it: another user who could put a
 * key or a link there could forge the trail or redirect it. A folder that others can only read is made private.
 */
export function makePrivate(folder: string): void {
  makeFolder(folder);
  const { mode } = ownFolder(folder);
  const found = readdirSync(folder);
  const journals = found.filter((name) => JOURNAL_NAME.test(name));
  const own = [...OWN_FILES, ...journals];
  const others = found.filter((name) => name !== LOCKS && !own.includes(name));
  if ((mode & 0o022) !== 0 && found.length > 0)
    throw unusable(folder, 'can be written by other users, who may have changed its files');
  if ((mode & 0o077) !== 0) {
    if (others.length > 0) throw unusable(folder, 'is open to other users and holds other files');
    chmodSync(folder, 0o700);
  }
  for (const name of own) closeToOthers(folder, name);
  if (found.includes(LOCKS)) ownFolder(join(folder, LOCKS));
}

/**
 * Creates the folder and its parents. Node's recursive mkdir never returns where nothing can be created, such as
 * below /proc.
 */
function makeFolder(path: string): void {
  try {
    makeOne(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    makeOne(path);
  }
}

/** Another server that starts at the same time may have created it. */
function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function ownFolder(path: string): { mode: number } {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) throw unusable(path, 'is a symbolic link: name the folder that it leads to');
  if (!found.isDirectory()) throw unusable(path, 'is not a folder');
  if (!isOwn(found)) throw unusable(path, 'belongs to another user');
  return found;
}

const isOwn = ({ uid }: { uid: number }) => uid === (process.getuid?.() ?? uid);

/** Uses the path: opening and closing the database file would release SQLite's locks on it. */
function closeToOthers(folder: string, name: string): void {
  const found = lstatSync(join(folder, name), { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isFile() || !isOwn(found))
    throw unusable(folder, `holds a "${name}" that is not a file of yours`);
  if ((found.mode & 0o077) !== 0) chmodSync(join(folder, name), 0o600);
}

const unusable = (folder: string, why: string) =>
  auditError(
    'unusable',
    `The folder of the audit trail, ${folder}, ${why}. Use a folder that holds nothing else.`,
    {
      folder,
    },
  );

/** Creates the file that gives SQLite's other files their mode. Returns whether it was created. */
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

/** Returns $XDG_STATE_HOME/pungi/audit, or ~/.local/state/pungi/audit. */
export function defaultAuditFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(stateFolder(env), 'audit');
}

export const auditFolder = ({ auditDir }: Pick<Config, 'auditDir'>): string =>
  resolve(auditDir ?? defaultAuditFolder());

/** Returns null if the audit trail is off. */
export function auditSettings(config: Config): AuditSettings | null {
  if (!config.audit) return null;
  return {
    folder: auditFolder(config),
    sync: config.auditSync,
    storeCode: config.auditStoreCode,
    retentionDays: config.auditRetentionDays ?? null,
    maxBytes: config.auditMaxMb * 1024 * 1024,
    whenFull: config.auditWhenFull,
  };
}
