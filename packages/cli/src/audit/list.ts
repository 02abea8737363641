import { countText, cutTo, revealedLine, widthOf } from '@pungi/core/base';
import { type AuditEntry, AuditQuery } from '@pungi/core/contract';
import type { Command } from 'commander';
import { type Column, tableOf } from '../terminal.js';
import {
  type End,
  type Filters,
  filterOptions,
  queryOf,
  subcommand,
  timeText,
  withReader,
} from './subcommand.js';

const DEFAULT_LIMIT = 50;
const MOST = AuditQuery.shape.limit.unwrap().maxValue!;

interface Field extends Column {
  textOf(entry: AuditEntry): string;
}

/** Names of clients, profiles and environments can be long; `audit show` prints them in full. */
const NAME_WIDTH = 24;
const name = (text: string | null | undefined) => cutTo(revealedLine(text ?? ''), NAME_WIDTH);
type Placed = { profile?: string | null; environment?: string | null };

const TIME: Field = { heading: 'TIME (UTC)', textOf: ({ time }) => timeText(time) };
const FIELDS: readonly Field[] = [
  TIME,
  { heading: 'ENTRY', align: 'right', textOf: ({ seq }) => String(seq) },
  { heading: 'KIND', textOf: ({ kind }) => kind },
  { heading: 'VERDICT', textOf: verdictOf },
  { heading: 'CLIENT', textOf: ({ client }) => name(client) },
  { heading: 'PROFILE', textOf: ({ data }) => name((data as Placed).profile) },
  { heading: 'ENVIRONMENT', textOf: ({ data }) => environmentText((data as Placed).environment) },
  { heading: 'WHAT', textOf: whatOf },
];
/** Environments of scripts are named by a hash, whose beginning is enough. */
const environmentText = (environment: string | null | undefined) =>
  name(environment).replace(/^(inline-[0-9a-f]{6})[0-9a-f]+…?$/, '$1…');

/** The width without a terminal. */
const WIDTH = 240;
/** The width that the last column needs; the other columns give way in this order. */
const WHAT_WIDTH = 32;
const DISPENSABLE = ['PROFILE', 'ENVIRONMENT', 'CLIENT'];

export const list = (end: End): Command =>
  subcommand<[], Filters>('list', end, {
    about: 'show entries, the newest first',
    options: filterOptions(`maximum number; default ${DEFAULT_LIMIT}`),
    help: `  pungi audit list
  pungi audit list --since 2h --verdict timed-out
  pungi audit list --client ci --kind run --limit 500 --json

Refused runs have the kind "denial"; --verdict denied finds them. A narrow terminal shows fewer columns.`,
    run: ({ style, width = WIDTH }, flags) =>
      withReader(flags, (reader) => {
        const limit = Math.min(flags.limit ?? DEFAULT_LIMIT, MOST);
        const found = reader.list({ ...queryOf(flags), limit: Math.min(limit + 1, MOST) });
        const shown = found.slice(0, limit);
        if (shown.length === 0) return { json: shown, text: 'No entry matches.\n' };
        const more =
          found.length > shown.length
            ? `Showing the newest ${countText(limit, 'entry', 'entries')}: --limit\n`
            : '';
        const fields = fieldsWithin(shown, width);
        const rows = shown.map((entry) => fields.map(({ textOf }) => textOf(entry)));
        const table = tableOf(fields, rows, { style, width });
        return { json: shown, text: `${table}${style('dim', more)}` };
      }),
  });

/** Chooses the columns that fit. */
function fieldsWithin(entries: readonly AuditEntry[], width: number): readonly Field[] {
  const room = ({ heading, textOf }: Field) =>
    2 + Math.max(heading.length, ...entries.map((entry) => widthOf(textOf(entry))));
  const isTooWide = (fields: readonly Field[]) =>
    fields.slice(0, -1).reduce((sum, field) => sum + room(field), WHAT_WIDTH) > width;
  let fields = FIELDS;
  for (const heading of DISPENSABLE)
    if (isTooWide(fields)) fields = fields.filter((field) => field.heading !== heading);
  const withoutYear = (field: Field) =>
    field === TIME ? { ...TIME, textOf: (entry: AuditEntry) => TIME.textOf(entry).slice(5) } : field;
  return isTooWide(fields) ? fields.map(withoutYear) : fields;
}

/** Summarizes an entry in one line, with control characters made visible. */
export function whatOf(entry: AuditEntry): string {
  switch (entry.kind) {
    case 'run':
      return firstLine(entry.data.code) ?? hashText(entry.data.codeSha256);
    case 'session': {
      const { action, session, checkpoint, forked } = entry.data;
      return revealedLine([action, checkpoint ?? forked, 'of session', session].join(' '));
    }
    case 'denial':
      return revealedLine(`${entry.data.what}: ${entry.data.reason}`);
    case 'install':
      return revealedLine([entry.data.action, ...entry.data.requested].join(' '));
    case 'environment':
      return revealedLine([entry.data.action, ...detailTexts(entry.data.details)].join(' '));
    case 'configuration':
      return revealedLine(entry.data.change);
    case 'server':
      return entry.data.event;
  }
}

function verdictOf(entry: AuditEntry): string {
  if (entry.kind === 'run') return revealedLine(entry.data.verdict.kind);
  if (entry.kind === 'install' && entry.data.error !== null) return 'failed';
  return entry.kind === 'denial' ? 'denied' : '';
}

const LONGEST = 200;

function firstLine(code: string | null): string | undefined {
  const line = code?.slice(0, 10_000).match(/^[^\S\n]*(\S.*)$/m)?.[1];
  return code === null ? undefined : revealedLine((line ?? '').slice(0, LONGEST));
}

/** The source of an environment, or the reason for its removal. */
function detailTexts(details: unknown): string[] {
  const { requested, from, reason } = (details ?? {}) as Record<string, unknown>;
  if (Array.isArray(requested)) return requested.map(String);
  if (typeof from === 'string') return [`from ${from}`];
  return typeof reason === 'string' ? [`(${reason})`] : [];
}

const hashText = (sha256: string | null) => (sha256 === null ? '' : `(code ${sha256.slice(0, 12)}…)`);
