import { sha256 } from '../base/sha256.js';
import type { AuditEntry, AuditRecord, EnvironmentLock } from '../contract/audit.js';
import { auditError } from './audit-error.js';

/** The previous hash of the first entry. */
export const NO_HASH = '0'.repeat(64);

export const hashOf = (prevHash: string, body: string) => sha256(prevHash + body);

/** Estimated bytes of the hashes, columns and indexes of one entry. */
const OVERHEAD = 1024;

/** A record that is ready to be written, except for its number. */
export interface PreparedRecord {
  columns: IndexColumns;
  /** The lock file that the record names; it is kept with the record. */
  lock: EnvironmentLock | null;
  /** Approximate size on disk. */
  bytes: number;
  /**
   * The text that is stored and hashed, so that verification does not depend on how a later version serializes it.
   */
  bodyAt: (seq: number) => string;
}

/** Serializes a record before the transaction starts. A record that cannot be serialized fails here, alone. */
export function prepareRecord(
  record: AuditRecord,
  lock: EnvironmentLock | null = null,
  time = new Date().toISOString(),
): PreparedRecord {
  const { client, data, kind, token } = record;
  const front = canonicalJson({ client, data, kind }).slice(0, -1);
  const back = canonicalJson({ time, token }).slice(1);
  return {
    columns: indexColumns(time, record),
    lock,
    bytes: Buffer.byteLength(front) + (lock?.text.length ?? 0) + OVERHEAD,
    bodyAt: (seq) => `${front},"seq":${seq},${back}`,
  };
}

/** Removes the code and the other inputs of a run; the hash of the code stays. */
export function redact(record: AuditRecord): AuditRecord {
  if (record.kind === 'run') return { ...record, data: { ...record.data, code: null, inputs: null } };
  if (record.kind === 'denial') return { ...record, data: { ...record.data, code: null } };
  return record;
}

/** Columns that queries use. They repeat parts of the body, and verify compares the two. */
interface IndexColumns {
  time: number;
  kind: string;
  client: string;
  /** The client without its version: most queries name clients without one. */
  client_name: string;
  run_id: string | null;
  sha256: string | null;
  environment: string | null;
  profile: string | null;
  verdict: string | null;
  lock: string | null;
}

export interface EntryRow extends IndexColumns {
  seq: number;
  prev_hash: string;
  hash: string;
  body: string;
}

export function indexColumns(time: string, record: AuditRecord): IndexColumns {
  const data = record.data as { [key: string]: unknown };
  return {
    time: Date.parse(time),
    kind: record.kind,
    client: columnText(record.client),
    client_name: clientName(columnText(record.client)),
    run_id: textOrNull(data.runId),
    sha256: textOrNull(data.codeSha256),
    environment: textOrNull(data.environment),
    profile: textOrNull(data.profile),
    verdict: verdictOf(record),
    lock: textOrNull(data.environmentLock),
  };
}

/** SQLite's text ends at a NUL and cannot hold lone surrogates. The body escapes them; columns replace them. */
export const columnText = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd');

/** A client's name ends in its version, such as "claude-code 2.0.1". */
export const clientName = (client: string) => client.replace(/ v?\d\S*$/, '');

const textOrNull = (value: unknown) => (typeof value === 'string' ? columnText(value) : null);

function verdictOf({ kind, data }: AuditRecord): string | null {
  if (kind === 'run') return columnText(data.verdict.kind);
  return kind === 'denial' ? 'denied' : null;
}

export function entryOf({
  seq,
  body,
  prev_hash,
  hash,
}: Pick<EntryRow, 'seq' | 'body' | 'prev_hash' | 'hash'>) {
  try {
    return { ...(JSON.parse(body) as AuditEntry), prevHash: prev_hash, hash };
  } catch (error) {
    throw auditError('damaged', `Entry ${seq} of the audit trail is not readable.`, { seq }, error);
  }
}

/**
 * Serializes JSON canonically (RFC 8785): keys sorted by UTF-16 code units, no blanks. JSON.stringify cannot do this,
 * because an object cannot hold keys such as "10" and "9" in that order. It uses loops because every run waits for
 * it.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  let text = '';
  if (Array.isArray(value)) {
    // A long array of numbers is serialized by the platform, which is faster.
    if (value.every(isPlain)) return JSON.stringify(value);
    for (const item of value) text += `${text === '' ? '[' : ','}${canonicalJson(item)}`;
    return text === '' ? '[]' : `${text}]`;
  }
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    text += `${text === '' ? '{' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

const isPlain = (value: unknown) => typeof value !== 'object' || value === null;
