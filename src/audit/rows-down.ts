import type { Statement } from './sqlite.js';

/** Rows from the newest down, one at a time: `statement` takes a number and finds the next one below it. */
export function* rowsDown<Row extends { seq: number }>(statement: Statement): Generator<Row, void> {
  const below = (seq: number) => statement.get(seq) as Row | undefined;
  for (let row = below(Number.MAX_SAFE_INTEGER); row !== undefined; row = below(row.seq)) yield row;
}
