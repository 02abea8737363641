import type { AuditEntry, AuditHead, AuditQuery, AuditVerification } from '../contract/audit.js';
import { translateError } from './audit-error.js';
import { clientName, columnText, type EntryRow, entryOf } from './chain.js';
import { publicText, readPublicKey } from './checkpoint.js';
import { type Database, EVERY_ENTRY } from './database.js';

import { type AuditFiles, filesIn } from './folder.js';
import { LockTexts } from './lock-texts.js';
import { connectForReading } from './open-database.js';
import { trailId } from './page-check.js';
import { checkEntry, Problems } from './problems.js';
import { countOldest } from './pruning.js';
import { readHead, readPage, type TrailPage, type TrailPosition } from './trail-pages.js';
import { verifyTrail } from './verify.js';

const EXPORT_PAGE = 500;

/** Queries of a trail. */
export class TrailReader {
  readonly folder: string;
  readonly #database: Database;
  readonly #files: AuditFiles;
  readonly #locks: LockTexts;

  constructor(database: Database, files: AuditFiles) {
    this.folder = files.folder;
    this.#database = database;
    this.#files = files;
    this.#locks = new LockTexts(files.locks);
  }

  list(query: AuditQuery = {}): AuditEntry[] {
    return this.#read(() => listEntries(this.#database, query));
  }

  /** Finds an entry by its number, or by the id of its run. */
  get(which: number | string): AuditEntry | undefined {
    return this.#read(() => getEntry(this.#database, which));
  }

  /** The newest entry of the chain. */
  head(): AuditHead {
    return this.#read(() => readHead(this.#database));
  }

  hashAt(seq: number): string | undefined {
    const sql = 'SELECT hash FROM entries WHERE seq = ?';
    return this.#read(() => (this.#database.prepare(sql).get(seq) as { hash: string } | undefined)?.hash);
  }

  /** Names the trail, wherever its folder is. */
  id(): string {
    return this.#read(() => trailId(publicText(readPublicKey(this.#files))));
  }

  /** Returns a part of the trail for somebody else who verifies it. */
  page(from: TrailPosition, mostBytes: number): TrailPage {
    const publicKey = this.#read(() => publicText(readPublicKey(this.#files)));
    return this.#read(() => ({ publicKey, ...readPage(this.#database, from, mostBytes) }));
  }

  /** Returns the number of the oldest entry. */
  bounds(): { first: number | null } {
    return this.#read(
      () => this.#database.prepare('SELECT min(seq) AS first FROM entries').get() as { first: number | null },
    );
  }

  /** Returns what is wrong with a single entry; `verify` checks it against its neighbours. */
  problemOf(seq: number): string | undefined {
    return this.#read(() => {
      const row = this.#database.prepare('SELECT * FROM entries WHERE seq = ?').get(seq);
      const problems = new Problems();
      if (row !== undefined) checkEntry(row as unknown as EntryRow, undefined, problems);
      return problems.list()[0]?.problem;
    });
  }

  /** Yields lines of JSON, newest first: all matches, unless the query has a limit. */
  async *export(query: AuditQuery = {}): AsyncIterable<string> {
    let { before, limit: left = Number.POSITIVE_INFINITY } = query;
    while (left > 0) {
      const limit = Math.min(left, EXPORT_PAGE);
      const page = this.list({ ...query, limit, ...(before === undefined ? {} : { before }) });
      for (const entry of page) yield `${JSON.stringify(entry)}\n`;
      if (page.length === 0) return;
      before = page.at(-1)!.seq;
      left -= page.length;
    }
  }

  /** Returns how many entries pruning with this time would remove. */
  countBefore(before: Date): number {
    return this.#read(() => countOldest(this.#database, before));
  }

  /** Returns the lock file that an entry names. Throws if it is missing or changed. */
  lockText(sha256: string): string {
    return this.#locks.read(sha256);
  }

  verify(): Promise<AuditVerification> {
    return verifyTrail(this.folder);
  }

  close(): void {
    this.#database.close();
  }

  #read<T>(look: () => T): T {
    try {
      return look();
    } catch (error) {
      throw translateError(error, this.folder);
    }
  }
}

/** Opens a trail that others may be writing. It creates and changes nothing. */
export async function openTrailForReading(folder: string): Promise<TrailReader> {
  const files = filesIn(folder);
  return new TrailReader(await connectForReading(files), files);
}

const DEFAULT_LIMIT = 100;
const COUNTED = 5000;

type Bound = string | number;

/** Rarely queried, so it has no column. */
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
  // Entries that are pruned at this moment are left out.
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
  // SQLite does not know which value is rare; the plus keeps it from using the index of another column.
  for (const { name, value } of wanted) add(name === guide ? matching(name) : `+${name} = ?`, value);
  if (query.capability !== undefined) add(CAPABILITY, query.capability);
  if (query.since !== undefined) add('time >= ?', Date.parse(query.since));
  if (query.until !== undefined) add('time < ?', Date.parse(query.until));
  if (query.before !== undefined) {
    const at = database.prepare('SELECT time FROM entries WHERE seq = ?').get(query.before) as
      | { time: number }
      | undefined;
    // The last entry of the previous page may have been pruned since, with everything older.
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
  // A name without a version matches all versions of the client.
  const isWhole = client !== undefined && clientName(client) !== client;
  const names = ['kind', 'verdict', 'sha256', 'environment', 'profile'] as const;
  return [
    ...names.map((name) => ({ name, value: query[name] })),
    { name: isWhole ? ('client' as const) : ('client_name' as const), value: client },
  ].flatMap(({ name, value }) => (value === undefined ? [] : [{ name, value: columnText(value) }]));
}

/** Most entries are runs, so the index of kinds leaves them out. */
const isIndexed = ({ name, value }: Equality) => name !== 'kind' || value !== 'run';
const matching = (name: Equality['name']) => (name === 'kind' ? `kind = ? AND kind <> 'run'` : `${name} = ?`);

/** Returns the column whose value the fewest entries have; counting stops at a bound. */
function rarest(database: Database, wanted: Equality[]): string | undefined {
  if (wanted.length < 2) return wanted[0]?.name;
  const counted = wanted.map(({ name, value }) => {
    const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM lookup WHERE ${matching(name)} LIMIT ${COUNTED})`;
    return { name, count: (database.prepare(sql).get(value) as { count: number }).count };
  });
  return counted.reduce((a, b) => (b.count < a.count ? b : a)).name;
}

/** Finds an entry by its number, or by the id of a run: the run itself, not its denials, which share the id. */
function getEntry(database: Database, which: number | string): AuditEntry | undefined {
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
