import type { AuditEntry, AuditProblem } from '../contract/audit.js';
import { type EntryRow, hashOf, indexColumns } from './chain.js';

const MOST = 1000;

/** The problems that verification found, the first one per entry. */
export class Problems {
  readonly #bySeq = new Map<number, string>();

  add(seq: number, problem: string): void {
    if (this.#bySeq.size < MOST && !this.#bySeq.has(seq)) this.#bySeq.set(seq, problem);
  }

  has(seq: number): boolean {
    return this.#bySeq.has(seq);
  }

  addMissing(from: number, through: number, witness: string): void {
    const which = from === through ? `Entry ${from} is` : `Entries ${from} to ${through} are`;
    this.add(from, `${which} missing: ${witness}.`);
  }

  list(): AuditProblem[] {
    return [...this.#bySeq].map(([seq, problem]) => ({ seq, problem })).sort((a, b) => a.seq - b.seq);
  }
}

/**
 * Checks one entry against the hash that the next entry (or the head) holds. Returns the hash that the previous entry
 * must have, or undefined if this entry cannot be trusted.
 */
export function checkEntry(
  row: EntryRow,
  expected: string | undefined,
  problems: Problems,
): string | undefined {
  const { seq } = row;
  const computed = hashOf(row.prev_hash, row.body);
  const entry = parse(row.body);
  const isMoved = entry !== undefined && entry.seq !== seq;
  if (isMoved) problems.add(seq, `Entry ${seq} was replaced by the content of entry ${entry.seq}.`);
  if (computed !== row.hash) problems.add(seq, `Entry ${seq} was changed: it does not have its hash.`);
  if (expected !== undefined && row.hash !== expected)
    problems.add(seq, `Entry ${seq} was replaced: the next entry holds another hash.`);
  if (entry === undefined) problems.add(seq, `Entry ${seq} is not readable.`);
  else if (!isMoved) checkColumns(row, entry, problems);
  const isBelieved = !isMoved && entry !== undefined && computed === (expected ?? row.hash);
  return isBelieved ? row.prev_hash : undefined;
}

function checkColumns(row: EntryRow, entry: AuditEntry, problems: Problems): void {
  for (const [name, value] of Object.entries(columnsOf(entry)))
    if (row[name as keyof EntryRow] !== value)
      problems.add(row.seq, `Entry ${row.seq} was changed: its column "${name}" differs from the entry.`);
}

/** A rewritten body may lack any field. */
function columnsOf(entry: AuditEntry): Partial<ReturnType<typeof indexColumns>> {
  try {
    return indexColumns(entry.time, entry);
  } catch {
    return {};
  }
}

function parse(body: string): AuditEntry | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null ? (parsed as AuditEntry) : undefined;
  } catch {
    return undefined;
  }
}
