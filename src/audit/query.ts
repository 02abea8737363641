import type { AuditEntry, AuditQuery } from '../contract/audit.js';
import { clientName, columnText, type EntryRow, entryOf } from './chain.js';
import type { Database } from './database.js';
import { EVERY_ENTRY } from './lookup.js';

const DEFAULT_LIMIT = 100;
const COUNTED = 5000;

type Bound = string | number;

/** Rarely asked for, so it has no column of its own. */
const CAPABILITY = `? = (SELECT coalesce(json_extract(body, '$.data.capability'), json_extract(body, '$.data.details.capability'))
  FROM entries WHERE entries.seq = found.seq AND json_valid(body))`;

export function listEntries(database: Database, query: AuditQuery): AuditEntry[] {
  const { where, values } = conditions(database, query);
  const found = database
    .prepare(
      `SELECT seq, time FROM ${EVERY_ENTRY} AS found ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''}
       ORDER BY time DESC, seq DESC LIMIT ?`,
    )
    .all(...values, query.limit ?? DEFAULT_LIMIT) as { seq: number }[];
  // What is pruned in this moment is left out.
  return found.flatMap(({ seq }) => getEntry(database, seq) ?? []);
}

function conditions(database: Database, query: AuditQuery): { where: string[]; values: Bound[] } {
  const where: string[] = [];
  const values: Bound[] = [];
  const add = (condition: string, ...bound: Bound[]) => {
    where.push(condition);
    values.push(...bound);
  };
  const wanted = equalities(query);
  const guide = rarest(database, wanted.filter(isIndexed));
  // SQLite has no idea which value is rare; a plus keeps it from going by the index of another column.
  for (const { name, value } of wanted) add(name === guide ? matching(name) : `+${name} = ?`, value);
  if (query.capability !== undefined) add(CAPABILITY, query.capability);
  if (query.since !== undefined) add('time >= ?', Date.parse(query.since));
  if (query.until !== undefined) add('time < ?', Date.parse(query.until));
  if (query.before !== undefined) {
    const at = database.prepare('SELECT time FROM entries WHERE seq = ?').get(query.before) as
      | { time: number }
      | undefined;
    // What the page ended with may have been pruned since, and with it all that is older.
    if (at === undefined) add('seq < ?', query.before);
    else add('(time, seq) < (?, ?)', at.time, query.before);
  }
  return { where, values };
}

interface Equality {
  name: 'kind' | 'verdict' | 'client' | 'client_name' | 'sha256' | 'environment' | 'profile';
  value: string;
}

function equalities({ client, ...query }: AuditQuery): Equality[] {
  // A name without a version means the client in all its versions.
  const isWhole = client !== undefined && clientName(client) !== client;
  const names = ['kind', 'verdict', 'sha256', 'environment', 'profile'] as const;
  return [
    ...names.map((name) => ({ name, value: query[name] })),
    { name: isWhole ? ('client' as const) : ('client_name' as const), value: client },
  ].flatMap(({ name, value }) => (value === undefined ? [] : [{ name, value: columnText(value) }]));
}

/** Most entries are runs, and the index of kinds leaves them out. */
const isIndexed = ({ name, value }: Equality) => name !== 'kind' || value !== 'run';
const matching = (name: Equality['name']) => (name === 'kind' ? `kind = ? AND kind <> 'run'` : `${name} = ?`);

/** The column whose value the fewest entries have, counted no further than makes a difference. */
function rarest(database: Database, wanted: Equality[]): string | undefined {
  if (wanted.length < 2) return wanted[0]?.name;
  const counted = wanted.map(({ name, value }) => {
    const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM lookup WHERE ${matching(name)} LIMIT ${COUNTED})`;
    return { name, count: (database.prepare(sql).get(value) as { count: number }).count };
  });
  return counted.reduce((a, b) => (b.count < a.count ? b : a)).name;
}

/** By number, or by the id of a run: the run itself, though what it was denied has the same. */
export function getEntry(database: Database, which: number | string): AuditEntry | undefined {
  const seq = typeof which === 'number' ? which : numberOf(database, which);
  const row = database.prepare('SELECT seq, prev_hash, hash, body FROM entries WHERE seq = ?').get(seq);
  return row === undefined ? undefined : entryOf(row as EntryRow);
}

function numberOf(database: Database, runId: string): number | null {
  const found = database
    .prepare(`SELECT seq FROM ${EVERY_ENTRY} WHERE run_id = ? ORDER BY kind = 'run' DESC, seq DESC LIMIT 1`)
    .get(columnText(runId)) as { seq: number } | undefined;
  return found?.seq ?? null;
}
