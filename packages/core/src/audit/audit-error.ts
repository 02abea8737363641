import { type ErrorCode, PungiError } from '../base/errors.js';
import { fileProblem } from '../base/files.js';

type AuditTrouble = 'damaged' | 'foreign' | 'busy' | 'disk-full' | 'full' | 'unusable' | 'gone' | 'closed';

const codeOf = (trouble: AuditTrouble): ErrorCode =>
  trouble === 'damaged' ? 'AUDIT_DAMAGED' : 'AUDIT_UNAVAILABLE';

export function auditError(
  trouble: AuditTrouble,
  sentence: string,
  details: Record<string, unknown> = {},
  cause?: unknown,
): PungiError {
  return new PungiError(codeOf(trouble), sentence, { audit: trouble, ...details }, cause);
}

export const troubleOf = (error: unknown): AuditTrouble | undefined =>
  error instanceof PungiError ? (error.details['audit'] as AuditTrouble | undefined) : undefined;

const [BUSY, LOCKED, READ_ONLY, CORRUPT, FULL, CANNOT_OPEN, NOT_A_DATABASE] = [5, 6, 8, 11, 13, 14, 26];

/** The primary result code of SQLite; extended codes carry more in their higher bits. */
const resultOf = (error: unknown) => {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
};

export const isBusy = (error: unknown) => [BUSY, LOCKED].includes(resultOf(error) ?? -1);

/** SQLite reports this when it cannot create the files that it needs to read a database in use. */
export const isUnwritable = (error: unknown) => [READ_ONLY, CANNOT_OPEN].includes(resultOf(error) ?? -1);

export const isCorrupt = (error: unknown) => resultOf(error) === CORRUPT;

export const isNoDatabase = (error: unknown) => isCorrupt(error) || resultOf(error) === NOT_A_DATABASE;

const isDiskFull = (error: unknown) =>
  resultOf(error) === FULL || ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');

export const diskFull = (folder: string, cause?: unknown): PungiError =>
  auditError('disk-full', `No space is left for the audit trail in ${folder}.`, { folder }, cause);

/** Translates an error of SQLite or of the file system into an error of the trail. */
export function translateError(error: unknown, folder: string): PungiError {
  if (error instanceof PungiError) return error;
  const fail = (trouble: AuditTrouble, sentence: string) => auditError(trouble, sentence, { folder }, error);
  if (isBusy(error)) return fail('busy', `The audit trail in ${folder} is locked by another program.`);
  if (isDiskFull(error)) return diskFull(folder, error);
  const reason = error instanceof Error ? fileProblem(error) : String(error);
  if (isCorrupt(error)) return fail('damaged', `The audit database in ${folder} is damaged: ${reason}.`);
  if (isNoDatabase(error))
    return fail('damaged', `The audit.db in ${folder} is damaged: it is not a database.`);
  return fail('unusable', `The audit trail in ${folder} cannot be used: ${reason}.`);
}
