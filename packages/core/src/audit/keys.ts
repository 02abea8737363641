import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { syncFolder, writeAtomically } from '../base/atomic-write.js';
import { auditError } from './audit-error.js';
import type { AuditFiles } from './folder.js';

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
