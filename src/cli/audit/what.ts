import { revealedLine } from '../../base/terminal.js';
import type { AuditEntry } from '../../contract/audit.js';

/** What an entry is about, in a line; whatever others have written into it commands no terminal. */
export function whatOf(entry: AuditEntry): string {
  switch (entry.kind) {
    case 'run':
      return firstLine(entry.data.code) ?? hashText(entry.data.codeSha256);
    case 'denial':
      return revealedLine(`${entry.data.what}: ${entry.data.reason}`);
    case 'install':
      return revealedLine([entry.data.action, ...entry.data.requested].join(' '));
    case 'environment':
      return revealedLine([entry.data.action, ...wordsOf(entry.data.details)].join(' '));
    case 'configuration':
      return revealedLine(entry.data.change);
    case 'server':
      return entry.data.event;
  }
}

export function verdictOf(entry: AuditEntry): string {
  if (entry.kind === 'run') return revealedLine(entry.data.verdict.kind);
  if (entry.kind === 'install' && entry.data.error !== null) return 'failed';
  return entry.kind === 'denial' ? 'denied' : '';
}

const LONGEST = 200;

function firstLine(code: string | null): string | undefined {
  const line = code?.slice(0, 10_000).match(/^[^\S\n]*(\S.*)$/m)?.[1];
  return code === null ? undefined : revealedLine((line ?? '').slice(0, LONGEST));
}

/** What an environment was made with or from, or why it went. */
function wordsOf(details: unknown): string[] {
  const { requested, from, reason } = (details ?? {}) as Record<string, unknown>;
  if (Array.isArray(requested)) return requested.map(String);
  if (typeof from === 'string') return [`from ${from}`];
  return typeof reason === 'string' ? [`(${reason})`] : [];
}

const hashText = (sha256: string | null) => (sha256 === null ? '' : `(code ${sha256.slice(0, 12)}…)`);
