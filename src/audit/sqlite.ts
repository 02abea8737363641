import type { StatementSyncInstance } from '@photostructure/sqlite';

type Sqlite = Pick<typeof import('@photostructure/sqlite'), 'DatabaseSync'>;

/** Without `iterate`: neither early Node 22 nor the package gets its lifetime and its errors right. */
export type Statement = Pick<StatementSyncInstance, 'get' | 'all' | 'run'>;

/** Node's own SQLite where it has one, else the package of the same interface. */
export async function loadSqlite(): Promise<Sqlite> {
  return builtIn() ?? (await import('@photostructure/sqlite'));
}

function builtIn(): Sqlite | undefined {
  // Loading it prints that it is experimental, on the stderr that belongs to the log.
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule?.('node:sqlite') as Sqlite | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
