import type { Command } from 'commander';
import { type AuditEntry, AuditQuery } from '../../contract/audit.js';
import { countText } from '../terminal/amounts.js';
import { revealedLine } from '../terminal/printable.js';
import { type Column, tableOf } from '../terminal/table.js';
import { type Filters, filterOptions, queryOf } from './filters.js';
import { type End, subcommand, withReader } from './subcommand.js';
import { timeText } from './time.js';
import { verdictOf, whatOf } from './what.js';

const DEFAULT_LIMIT = 50;
const MOST = AuditQuery.shape.limit.unwrap().maxValue!;

const COLUMNS: readonly Column[] = [
  { heading: 'TIME (UTC)' },
  { heading: 'ENTRY', align: 'right' },
  { heading: 'KIND' },
  { heading: 'VERDICT' },
  { heading: 'CLIENT' },
  { heading: 'PROFILE' },
  { heading: 'ENVIRONMENT' },
  { heading: 'WHAT' },
];

export const list = (end: End): Command =>
  subcommand<[], Filters>('list', end, {
    about: 'show entries, the newest first',
    options: filterOptions(`at most so many; ${DEFAULT_LIMIT} if not given`),
    help: `  pungi audit list
  pungi audit list --since 2h --verdict timed-out
  pungi audit list --client ci --kind run --limit 500 --json

Runs that the rules refused have the kind "denial"; --verdict denied finds them.`,
    run: ({ style, width }, flags) =>
      withReader(flags, (reader) => {
        const limit = Math.min(flags.limit ?? DEFAULT_LIMIT, MOST);
        const found = reader.list({ ...queryOf(flags), limit: Math.min(limit + 1, MOST) });
        const shown = found.slice(0, limit);
        if (shown.length === 0) return { json: shown, text: 'No entry matches.\n' };
        const more =
          found.length > shown.length
            ? `Only the newest ${countText(limit, 'entry', 'entries')}: --limit\n`
            : '';
        const table = tableOf(COLUMNS, shown.map(row), { style, width });
        return { json: shown, text: `${table}${style('dim', more)}` };
      }),
  });

function row(entry: AuditEntry): string[] {
  const { time, seq, kind, client } = entry;
  const { profile = null, environment = null } = entry.data as {
    profile?: string | null;
    environment?: string | null;
  };
  const names = [client, profile ?? '', environment ?? ''].map(revealedLine);
  return [timeText(time), String(seq), kind, verdictOf(entry), ...names, whatOf(entry)];
}
