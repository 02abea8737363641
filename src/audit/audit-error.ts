import { type ErrorCode, PungiError } from '../base/errors.js';

export type AuditTrouble = 'damaged' | 'foreign' | 'busy' | 'disk-full' | 'unusable' | 'closed';

const CODES: Record<AuditTrouble, ErrorCode> = {
  damaged: 'INTERNAL_ERROR',
  foreign: 'CONFIGURATION_ERROR',
  busy: 'SERVER_BUSY',
  'disk-full': 'INTERNAL_ERROR',
  unusable: 'INTERNAL_ERROR',
  closed: 'INTERNAL_ERROR',
};

export function auditError(
  trouble: AuditTrouble,
  sentence: string,
  details: Record<string, unknown> = {},
  cause?: unknown,
): PungiError {
  return new PungiError(CODES[trouble], sentence, { audit: trouble, ...details }, cause);
}

const [BUSY, LOCKED, CORRUPT, FULL, NOT_A_DATABASE] = [5, 6, 11, 13, 26];

/** The primary result code of SQLite; extended codes carry more in their higher bits. */
const resultOf = (error: unknown) => {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
};

export const isBusy = (error: unknown) => [BUSY, LOCKED].includes(resultOf(error) ?? -1);

export const isCorrupt = (error: unknown) => resultOf(error) === CORRUPT;

/** What SQLite threw, in the words of the trail. */
export function translateError(error: unknown, folder: string): PungiError {
  if (error instanceof PungiError) return error;
  const said = error instanceof Error ? error.message : String(error);
  switch (resultOf(error)) {
    case BUSY:
    case LOCKED:
      return auditError(
        'busy',
        `The audit trail in ${folder} is locked by another program.`,
        { folder },
        error,
      );
    case FULL:
      return auditError('disk-full', `No space is left for the audit trail in ${folder}.`, { folder }, error);
    case CORRUPT:
      return auditError('damaged', `The audit database in ${folder} is damaged: ${said}.`, { folder }, error);
    case NOT_A_DATABASE:
      return auditError('foreign', `The audit.db in ${folder} is not a database.`, { folder }, error);
    default:
      return auditError(
        'unusable',
        `The audit trail in ${folder} cannot be used: ${said}.`,
        { folder },
        error,
      );
  }
}
