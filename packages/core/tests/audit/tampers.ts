import fc from 'fast-check';
import { hashOf } from '../../src/audit/chain.js';
import { type Database, LOOKUP_COLUMNS } from '../../src/audit/database.js';

/** What the untouched trail looks like: entries first..last, regular checkpoints, perhaps a cut before the first. */
export interface Shape {
  first: number;
  last: number;
  checkpoints: number[];
  cut: number | undefined;
}

/** One way of tampering, and the numbers that verify must name: all of them; and no others, where `exactly`. */
export interface Tamper {
  does: string;
  apply: (database: Database) => void;
  names: number[];
  exactly: boolean;
}

const COLUMNS = [...LOOKUP_COLUMNS.slice(1), 'prev_hash', 'hash', 'body'];
const HASH = 'f'.repeat(64);

type Row = Record<string, string | number | null>;
const rowOf = (database: Database, seq: number) =>
  database.prepare('SELECT * FROM entries WHERE seq = ?').get(seq) as Row;

function put(database: Database, row: Row): void {
  const names = Object.keys(row);
  const marks = names.map(() => '?').join(', ');
  database.prepare(`INSERT INTO entries (${names.join(', ')}) VALUES (${marks})`).run(...Object.values(row));
}

const rehashed = (row: Row): Row => ({ ...row, hash: hashOf(String(row.prev_hash), String(row.body)) });
const remove = (database: Database, seq: number) =>
  database.prepare('DELETE FROM entries WHERE seq = ?').run(seq);
function replace(database: Database, row: Row): void {
  remove(database, Number(row.seq));
  put(database, row);
}

function otherValue(column: string, value: string | number | null, how: number): string | number | null {
  if (column === 'time') return Number(value) + 1 + how;
  if (column.endsWith('hash')) return HASH;
  if (
    value !== null &&
    how === 0 &&
    ['run_id', 'sha256', 'environment', 'profile', 'verdict', 'lock'].includes(column)
  )
    return null;
  const text = String(value ?? '');
  return how === 1 ? `${text} ` : `x${text.slice(1)}${text.length > 1 ? '' : 'x'}`;
}

/** A body that still is a record, with something else in it. */
const forged = (row: Row): Row => ({
  ...row,
  body: String(row.body).replace(/"token":(null|"ci")/, '"token":"eve"'),
});

export function anyTamper({ first, last, checkpoints, cut }: Shape): fc.Arbitrary<Tamper> {
  const entry = fc.integer({ min: first, max: last });
  const one = (does: string, seq: number, apply: Tamper['apply']): Tamper => ({
    does: `${does} ${seq}`,
    apply,
    names: [seq],
    exactly: true,
  });
  const changed = fc
    .tuple(entry, fc.constantFrom(...COLUMNS), fc.integer({ min: 0, max: 2 }))
    .map(([seq, column, how]) =>
      one(`changes ${column} (${how}) of`, seq, (database) => {
        const value = otherValue(column, rowOf(database, seq)[column]!, how);
        database.prepare(`UPDATE entries SET ${column} = ? WHERE seq = ?`).run(value, seq);
      }),
    );
  const misled = fc
    .tuple(entry, fc.constantFrom(...COLUMNS.slice(0, -3)), fc.integer({ min: 0, max: 2 }))
    .map(([seq, column, how]) =>
      one(`changes ${column} (${how}) in the lookup of`, seq, (database) => {
        const value = otherValue(column, rowOf(database, seq)[column]!, how);
        database.prepare(`UPDATE lookup SET ${column} = ? WHERE seq = ?`).run(value, seq);
      }),
    );
  // The newest may be missing there, but nothing before one that is not.
  const hidden = fc
    .integer({ min: first, max: last - 1 })
    .map((seq) =>
      one('hides from the lookup', seq, (database) =>
        database.prepare('DELETE FROM lookup WHERE seq = ?').run(seq),
      ),
    );
  const invented = fc
    .constantFrom(last + 1, last + 7, -3)
    .map((seq) =>
      one('invents in the lookup', seq, (database) =>
        database
          .prepare(`INSERT INTO lookup (seq, time, kind, client, client_name) VALUES (?, 1, 'run', '', '')`)
          .run(seq),
      ),
    );
  const forgedWithHash = entry.map((seq) =>
    one('forges, with a fitting hash,', seq, (database) =>
      replace(database, rehashed(forged(rowOf(database, seq)))),
    ),
  );
  const deleted = entry.map((seq) => one('deletes', seq, (database) => remove(database, seq)));
  const inserted = fc
    .constantFrom(last + 1, last + 7, cut ?? 0, -3)
    .chain((seq) =>
      entry.map((like) =>
        one(`inserts one like ${like} as`, seq, (database) =>
          put(database, rehashed({ ...rowOf(database, like), seq })),
        ),
      ),
    );
  const moved = fc.tuple(entry, fc.constantFrom(last + 1, -1)).map(
    ([seq, to]): Tamper => ({
      does: `moves ${seq} to ${to}`,
      apply: (database) => database.prepare('UPDATE entries SET seq = ? WHERE seq = ?').run(to, seq),
      names: [seq, to],
      exactly: true,
    }),
  );
  const swapped = fc
    .tuple(entry, entry)
    .filter(([a, b]) => a !== b)
    .map(
      ([a, b]): Tamper => ({
        does: `swaps ${a} and ${b}`,
        apply: (database) => {
          const [rowA, rowB] = [rowOf(database, a), rowOf(database, b)];
          replace(database, { ...rowA, seq: b });
          replace(database, { ...rowB, seq: a });
        },
        names: [a, b],
        exactly: true,
      }),
    );
  return fc.oneof(
    { arbitrary: changed, weight: 6 },
    misled,
    hidden,
    invented,
    forgedWithHash,
    deleted,
    inserted,
    moved,
    swapped,
    anyOfSeveral({ first, last, checkpoints, cut }),
    anyOfCheckpoints({ first, last, checkpoints, cut }),
    anyOfHead(last),
  );
}

function anyOfSeveral({ first, last, checkpoints }: Shape): fc.Arbitrary<Tamper> {
  const entry = fc.integer({ min: first, max: last });
  const cutOff = entry.map(
    (seq): Tamper => ({
      does: `cuts off the tail from ${seq}`,
      apply: (database) => database.prepare('DELETE FROM entries WHERE seq >= ?').run(seq),
      names: [seq],
      exactly: true,
    }),
  );
  const cutOffWithHead = fc.integer({ min: first + 1, max: last }).map(
    (seq): Tamper => ({
      does: `cuts off the tail from ${seq} and lowers the head`,
      apply: (database) => {
        database.prepare('DELETE FROM entries WHERE seq >= ?').run(seq);
        const { hash } = rowOf(database, seq - 1);
        database.prepare('UPDATE head SET seq = ?, hash = ?').run(seq - 1, hash!);
      },
      names: [seq],
      exactly: false,
    }),
  );
  const rewritten = entry.map(
    (from): Tamper => ({
      does: `rewrites everything from ${from}, the head too`,
      apply: (database) => rewrite(database, from, last),
      names: [checkpoints.find((seq) => seq >= from)!],
      exactly: false,
    }),
  );
  return fc.oneof(cutOff, cutOffWithHead, rewritten);
}

function rewrite(database: Database, from: number, last: number): void {
  let hash = String(rowOf(database, from).prev_hash);
  for (let seq = from; seq <= last; seq += 1) {
    const row = rowOf(database, seq);
    const next = rehashed({ ...(seq === from ? forged(row) : row), prev_hash: hash });
    replace(database, next);
    hash = String(next.hash);
  }
  database.prepare('UPDATE head SET hash = ?').run(hash);
}

function anyOfCheckpoints({ checkpoints, cut }: Shape): fc.Arbitrary<Tamper> {
  const all = [
    ...checkpoints.map((seq) => ({ seq, role: 'regular' })),
    ...(cut ? [{ seq: cut, role: 'cut' }] : []),
  ];
  const VALUES: Record<string, string | number> = {
    hash: HASH,
    time: 'never',
    previous: -1,
    signature: 'AAAA',
  };
  return fc.tuple(fc.constantFrom(...all), fc.constantFrom('delete', ...Object.keys(VALUES))).map(
    ([{ seq, role }, what]): Tamper => ({
      does: `${what} of the ${role} checkpoint ${seq}`,
      apply: (database) => {
        if (what === 'delete')
          database.prepare('DELETE FROM checkpoints WHERE seq = ? AND role = ?').run(seq, role);
        else
          database
            .prepare(`UPDATE checkpoints SET ${what} = ? WHERE seq = ? AND role = ?`)
            .run(VALUES[what]!, seq, role);
      },
      // Without its cut the chain lacks its beginning.
      names: role === 'cut' ? [1] : [seq],
      exactly: role === 'regular',
    }),
  );
}

function anyOfHead(last: number): fc.Arbitrary<Tamper> {
  const of = (does: string, sql: string, names: number[]): Tamper => ({
    does: `head: ${does}`,
    apply: (database) => database.exec(sql),
    names,
    exactly: false,
  });
  return fc.constantFrom(
    of('raised', 'UPDATE head SET seq = seq + 1', [last + 1]),
    of('lowered', 'UPDATE head SET seq = seq - 1', [last]),
    of('another hash', `UPDATE head SET hash = '${HASH}'`, [last]),
    of('forgets the checkpoint', 'UPDATE head SET checkpoint = 0', [last]),
    of('gone', 'DELETE FROM head', [last]),
  );
}
